// One thread's share of page migration: its groups, and what it does for them once a period (a pass).
//
// Where a page should be the policy says (placement_policy.hpp). A group whose move was asked for (group_home.hpp) has all its pages looked up; those on another node
// are moved, and the request stands until the last of them has arrived. Mail is looked after without
// being asked, because pages of mail are first touched by whoever sends: whenever some are new, they
// are moved to the group's home ("NUMA Time Warp", Pellegrini and Quaglia, PADS 2015, §3.4).
//
// Where pages are spread over nodes, nobody asks: every group is looked at again when the policy has
// changed its mind, and a part of all pages in each pass, because pages are touched for the first time at
// any time.
//
// Pages of several groups share a call, and pages that are in place are not named in one, because a
// call to move_pages holds up all cores a little. A worker that touches a page while it moves waits as
// for a page fault, and for nothing else here.
//
// Thread: one at a time; the groups' owners go on meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/heap/group_home.hpp"
#include "numa/heap/group_memory.hpp"
#include "numa/os/os.hpp"
#include "numa/place/migration_log.hpp"
#include "numa/place/placement_policy.hpp"

namespace nw {

class MigrationShare {
  public:
    // Pages in one call to the kernel: 16 MiB.
    static constexpr std::size_t batch_pages = 4096;

    // Pages looked at in a pass although nothing is known to have changed: 256 MiB.
    static constexpr std::size_t sweep_pages = 65'536;

    MigrationShare(Os& os, MigrationLog& log, const PlacementPolicy& policy)
        : os_(os), log_(log), policy_(policy) {}

    // Requires: the group outlives this, or is there until clear().
    void add(GroupMemory& group) { members_.push_back({&group}); }
    // Between two passes.
    void clear() noexcept {
        members_.clear();
        first_member_ = 0;
    }
    std::size_t groups() const noexcept { return members_.size(); }

    // Serves every group once; cut short when `stop` is requested, and requests then stand.
    // Throws std::bad_alloc: nothing is lost, and the next pass tries again.
    void pass(const std::stop_token& stop = {});

    // The PlacementPolicy::changes() after which every page has been brought to where it should be, or
    // cannot be. Thread: any.
    std::uint32_t changes_done() const noexcept {
        return changes_done_.load(std::memory_order_relaxed);
    }

  private:
    struct Member {
        GroupMemory* group;
        std::uint32_t growths_seen = 0;  // of its mail, when all of that was in place
        bool mail_in_place = true;
        // Changes of the policy's mind after which its pages were last tried, and after which none was left
        // for want of room. changes_done ≤ changes_seen.
        std::uint32_t changes_seen = 0;
        std::uint32_t changes_done = 0;
        std::size_t swept_pages = 0;  // by a sweep that is not through with it
    };

    // What became of a group in this pass; the worst of its pages decides.
    enum class Outcome : std::uint8_t { done, no_room, again, given_up };

    struct Visit {
        Member* member;
        GroupHome::Request request;
        bool moving;  // all of the group, and not its mail alone
        std::uint32_t growths;
        std::uint32_t changes;
        bool mail_untouched = false;  // some of it is about to be touched: look again
        Outcome outcome = Outcome::done;
    };

    // Pages on their way to one node.
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
    // `where(page)`: where it should be.
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
    std::size_t first_member_ = 0;  // of the next pass: which the last one's sweep came to
    std::atomic<std::uint32_t> changes_done_{0};

    // What belongs to this pass:
    std::vector<Visit> visits_;
    std::map<NodeId, Batch> batches_;
    std::map<NodeId, std::uint64_t> room_;  // bytes left on nodes that something is to go to
    std::uint32_t changes_ = 0;             // of the policy's mind, when it began
    std::size_t sweep_pages_left_ = 0;

    // Room to work in, kept from pass to pass:
    std::vector<Segment> segments_;
    std::vector<void*> asked_;
    std::vector<int> statuses_;
    std::map<NodeId, std::vector<void*>>
        misplaced_;  // of the visited group, by where they should be
};

}  // namespace nw
