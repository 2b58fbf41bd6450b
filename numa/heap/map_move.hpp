// Where a group's pages should be, and whether somebody is to take them there: the map_move of "NUMA
// Time Warp" (Pellegrini and Quaglia, PADS 2015, §3.4), {spinlock, target_node, need_move} a group.
//
// There the lock is also held while pages move, to keep the segment table still. Here the table has a
// lock of its own (segments.hpp), which is held only while the table is copied: no worker waits for
// a move.
//
// Thread: set_home and post are the group's owner's, request and finish the daemon's, the rest
// anybody's.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <numawarp/ids.hpp>

#include "base/spin_lock.hpp"

namespace nw {

class MapMove {
  public:
    struct Request {
        NodeId target;
        std::uint32_t number;
    };

    // −1 until the owner has said where it runs.
    NodeId home() const noexcept { return target_node_.load(std::memory_order_relaxed); }
    bool need_move() const noexcept { return need_move_.load(std::memory_order_relaxed); }

    // Without asking for a move: what is there is there, or is yet to be touched.
    void set_home(NodeId node) noexcept {
        const std::lock_guard guard(spinlock_);
        target_node_.store(node, std::memory_order_relaxed);
    }

    // Asks for a move of all pages to `node`, from now on the group's home.
    void post(NodeId node) noexcept {
        const std::lock_guard guard(spinlock_);
        target_node_.store(node, std::memory_order_relaxed);
        ++posted_;
        need_move_.store(true, std::memory_order_relaxed);
    }

    // The latest request. Requires: need_move() was true.
    Request request() const noexcept {
        const std::lock_guard guard(spinlock_);
        return {home(), posted_};
    }

    // The request was served. One that was posted meanwhile stands.
    void finish(const Request& served) noexcept {
        const std::lock_guard guard(spinlock_);
        if (served.number == posted_) need_move_.store(false, std::memory_order_relaxed);
    }

  private:
    mutable SpinLock
        spinlock_;  // everything changes under it; home and need_move are also peeked at
    std::atomic<bool> need_move_{false};
    std::atomic<NodeId> target_node_{NodeId{-1}};
    std::uint32_t posted_ = 0;
};

}  // namespace nw
