// Where a group's pages should be, and whether somebody is to take them there: the map_move of "NUMA
// Time Warp" (Pellegrini and Quaglia, PADS 2015, §3.4), {spinlock, target_node, need_move} a group.
//
// There the lock is also held while pages move, to keep the segment table still. Here the table has a
// lock of its own (segments.hpp), which is held only while the table is copied: no worker waits for
// a move.
//
// Thread: set and request_migration are the group's owner's, requested and finish the daemon's, the rest
// anybody's.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <numawarp/ids.hpp>

#include "base/spin_lock.hpp"

namespace nw {

class GroupHome {
  public:
    struct Request {
        NodeId target;
        std::uint32_t number;
    };

    // −1 until the owner has said where it runs.
    NodeId node() const noexcept { return node_.load(std::memory_order_relaxed); }
    bool needs_move() const noexcept { return needs_move_.load(std::memory_order_relaxed); }

    // Without asking for a move: what is there is there, or is yet to be touched.
    void set(NodeId node) noexcept {
        const std::lock_guard guard(lock_);
        node_.store(node, std::memory_order_relaxed);
    }

    // Asks for a move of all pages to `node`, from now on the group's home.
    void request_migration(NodeId node) noexcept {
        const std::lock_guard guard(lock_);
        node_.store(node, std::memory_order_relaxed);
        ++posted_;
        needs_move_.store(true, std::memory_order_relaxed);
    }

    // The latest request. Requires: needs_move() was true.
    Request requested() const noexcept {
        const std::lock_guard guard(lock_);
        return {node(), posted_};
    }

    // The request was served. One that was posted meanwhile stands.
    void finish(const Request& served) noexcept {
        const std::lock_guard guard(lock_);
        if (served.number == posted_) needs_move_.store(false, std::memory_order_relaxed);
    }

  private:
    mutable SpinLock lock_;  // everything changes under it; node and needs_move are also peeked at
    std::atomic<bool> needs_move_{false};
    std::atomic<NodeId> node_{NodeId{-1}};
    std::uint32_t posted_ = 0;
};

}  // namespace nw
