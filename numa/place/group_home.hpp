// SPDX-License-Identifier: Apache-2.0
// The home of a group, that is, the node where its pages should be, and whether pagemigd has to
// move the pages there. This corresponds to map_move in "NUMA Time Warp" (Pellegrini and Quaglia,
// PADS 2015, §3.4), which has {spinlock, target_node, need_move} for each group.
//
// In the paper, the lock is also held while pages move, so that the segment table does not change.
// In this implementation, the segment table has a separate lock (segments.hpp), which is held only
// while the table is copied. So no worker waits for a move.
//
// Thread: the group's owner calls set() and request_migration(). The daemon calls requested() and
// finish(). Any thread calls the other functions.
#pragma once

#include <atomic>
#include <cstdint>

#include <numawarp/ids.hpp>

#include "util/locks.hpp"

namespace nw {

class GroupHome {
  public:
    struct Request {
        NodeId target;
        std::uint32_t number;
    };

    // −1 until the owner has set the node.
    NodeId node() const noexcept { return node_.load(std::memory_order_relaxed); }
    bool needs_move() const noexcept { return needs_move_.load(std::memory_order_relaxed); }

    // Sets the home without a request for a move. Requires: all pages of the group are on `node`
    // already, or will be touched later.
    void set(NodeId node) noexcept {
        const LockGuard guard(lock_);
        node_.store(node, std::memory_order_relaxed);
    }

    // Requests a move of all pages to `node`, which becomes the group's home now.
    void request_migration(NodeId node) noexcept {
        const LockGuard guard(lock_);
        node_.store(node, std::memory_order_relaxed);
        ++posted_;
        needs_move_.store(true, std::memory_order_relaxed);
    }

    // The latest request.
    // Requires: needs_move() was true.
    Request requested() const noexcept {
        const LockGuard guard(lock_);
        return {node(), posted_};
    }

    // Marks `served` as done. A newer request remains open.
    void finish(const Request& served) noexcept {
        const LockGuard guard(lock_);
        if (served.number == posted_) needs_move_.store(false, std::memory_order_relaxed);
    }

  private:
    mutable SpinLock lock_;  // guards all changes; node_ and needs_move_ are also read without it
    std::atomic<bool> needs_move_{false};
    std::atomic<NodeId> node_{NodeId{-1}};
    std::uint32_t posted_ NW_GUARDED_BY(lock_) = 0;
};

}  // namespace nw
