// SPDX-License-Identifier: Apache-2.0
// The share of one thread of pagemigd in page migration. The share contains groups. Once per
// period, the thread does the work for these groups (a pass).
//
// The policy decides where a page should be (placement_policy.hpp). If the move of a group was
// requested (group_home.hpp), a pass queries all pages of the group, and moves the pages that are
// on another node. The request remains until these pages have arrived or turn out to be immovable.
// Mail is moved without a request, because the sending worker touches its pages first. When mail
// has new pages, a pass moves them to the group's home ("NUMA Time Warp", Pellegrini and Quaglia,
// PADS 2015, §3.4).
//
// If the policy spreads pages over nodes, there are no requests. Each group is checked again when
// the policy has changed. In addition, each pass checks a part of all pages (a sweep), because
// pages may be touched for the first time at any time.
//
// One call of move_pages contains pages of several groups, because each call delays all cores a
// little. It contains only misplaced pages. A worker that touches a page while the page is moved
// waits as long as for a page fault. In no other case does a worker wait for this class.
//
// Thread: one at a time; the groups' owners continue meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"
#include "numa/place/migration_log.hpp"
#include "numa/place/placed_group.hpp"
#include "numa/place/placement_policy.hpp"

namespace nw {

class MigrationShare {
  public:
    // Pages in one call to the kernel: 16 MiB.
    static constexpr std::size_t batch_pages = 4096;

    // Pages that one pass checks although no change is known: 256 MiB.
    static constexpr std::size_t sweep_pages = 65'536;

    MigrationShare(Os& os, MigrationLog& log, const PlacementPolicy& policy)
        : os_(os), log_(log), policy_(policy) {}

    // Requires: the group exists until clear() or until this object is destroyed.
    void add(PlacedGroup& group) { members_.push_back({&group}); }
    // Requires: no pass is running.
    void clear() noexcept {
        members_.clear();
        first_member_ = 0;
    }
    std::size_t groups() const noexcept { return members_.size(); }

    // Serves every group once. If `stop` is requested, the pass ends early, and the unfinished
    // requests remain. Throws std::bad_alloc; no request is lost, and the next pass tries again.
    void pass(const std::stop_token& stop = {});

    // The latest PlacementPolicy::changes() for which every page has been moved to the node where
    // it should be, or cannot be moved. Thread: any.
    std::uint32_t changes_done() const noexcept {
        return changes_done_.load(std::memory_order_relaxed);
    }

  private:
    struct Member {
        PlacedGroup* group;
        std::uint32_t growths_seen = 0;  // of its mail, at the last check
        bool mail_in_place = true;
        // changes_seen: the value of PlacementPolicy::changes() for which the group's pages were
        // last checked. changes_done: the last such value for which no page was left behind because
        // a node had no room. changes_done ≤ changes_seen.
        std::uint32_t changes_seen = 0;
        std::uint32_t changes_done = 0;
        std::size_t swept_pages = 0;  // by a sweep that has not finished the group
    };

    // The result of a pass for one group: the worst result of the group's pages.
    enum class Outcome : std::uint8_t { done, no_room, again, given_up };

    struct Visit {
        Member* member;
        GroupHome::Request request;
        bool moving;  // the whole group, not only its mail
        std::uint32_t growths;
        std::uint32_t changes;
        bool mail_untouched = false;  // some pages of mail are not touched yet: check again
        Outcome outcome = Outcome::done;
    };

    // Pages that are to be moved to one node.
    struct Batch {
        struct Run {
            std::size_t visit;
            std::size_t pages;
        };
        std::vector<void*> pages;
        std::vector<Run> runs;  // Σ runs.pages == pages.size()
    };

    void visit(Member& member, const std::stop_token& stop);
    bool needs_look(const Member& member) const;
    std::size_t look_at_segments(Visit& visit, std::size_t from, std::size_t most,
                                 const std::stop_token& stop);
    // `where(page)`: the node where the page should be.
    template <class Where>
    std::size_t find_misplaced(std::byte* base, std::size_t bytes, Visit& visit, const Where& where,
                               const std::stop_token& stop);
    bool has_room(NodeId node, std::size_t pages);
    void enqueue(NodeId target, const std::vector<void*>& pages);
    void flush(NodeId target, Batch& batch);
    void count_moved_pages(NodeId target, const Batch& batch);
    Outcome outcome_of_refusal(NodeId target, Status status, std::size_t pages);
    void conclude(const Visit& visit);

    Os& os_;
    MigrationLog& log_;
    const PlacementPolicy& policy_;
    std::vector<Member> members_;
    std::size_t first_member_ = 0;  // first in the next pass: where the last sweep ended
    std::atomic<std::uint32_t> changes_done_{0};

    // Data of the current pass:
    std::vector<Visit> visits_;
    std::map<NodeId, Batch> batches_;
    std::map<NodeId, std::uint64_t> room_;  // bytes left on the target nodes
    std::uint32_t changes_ = 0;             // of the policy, at the beginning
    std::size_t sweep_pages_left_ = 0;

    // Buffers that are reused by the next passes:
    std::vector<PageRange> segments_;
    std::vector<PageRange> mail_;
    std::vector<void*> queried_;
    std::vector<int> statuses_;
    std::map<NodeId, std::vector<void*>> misplaced_;  // of the visited group, by target node
};

}  // namespace nw
