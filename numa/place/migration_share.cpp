// SPDX-License-Identifier: Apache-2.0
#include "numa/place/migration_share.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <thread>

namespace nw {
namespace {

std::uint64_t thread_cpu_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

void add_to(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
    counter.fetch_add(amount, std::memory_order_relaxed);
}

}  // namespace

void MigrationShare::pass(const std::stop_token& stop) {
    const std::uint64_t started = thread_cpu_ns();
    visits_.clear();
    batches_.clear();
    room_.clear();
    // Read before node_of() is called, so that no later change counts as done.
    changes_ = policy_.changes();
    sweep_pages_left_ = policy_.spreads() ? sweep_pages : 0;
    std::size_t swept = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (stop.stop_requested() || log_.refused()) break;
        Member& member = members_[(first_member_ + i) % members_.size()];
        const bool sweeping = sweep_pages_left_ > 0;
        visit(member, stop);
        if (sweeping && member.swept_pages == 0) swept = i + 1;
    }
    if (!members_.empty()) first_member_ = (first_member_ + swept) % members_.size();
    for (auto& [target, batch] : batches_) flush(target, batch);
    for (const Visit& visit : visits_) conclude(visit);
    if (std::all_of(members_.begin(), members_.end(),
                    [this](const Member& member) { return member.changes_seen == changes_; }))
        changes_done_.store(changes_, std::memory_order_relaxed);
    add_to(log_.counters.busy_ns, thread_cpu_ns() - started);
    add_to(log_.counters.passes, 1);
}

// Whether all pages of the group must be checked although no move was requested. If the policy
// spreads pages, only the sweeps check pages for which a node had no room.
bool MigrationShare::needs_look(const Member& member) const {
    return member.changes_seen != changes_ ||
           (member.changes_done != changes_ && !policy_.spreads());
}

void MigrationShare::visit(Member& member, const std::stop_token& stop) {
    PlacedGroup& group = *member.group;
    const bool moving = group.home().needs_move();
    const bool whole = moving || needs_look(member);
    const bool looking = whole || sweep_pages_left_ > 0;
    const std::uint32_t growths = group.mail_growths();
    if (!looking && member.mail_in_place && growths == member.growths_seen) return;
    Visit& visit = visits_.emplace_back(
        Visit{&member, group.home().requested(), moving, growths, changes_, false, Outcome::done});
    const NodeId home = visit.request.target;
    if (index(home) < 0) return;

    for (auto& [target, pages] : misplaced_) pages.clear();
    if (looking) {
        // The group's new owner touches first the pages that it allocates after this copy, so they
        // are on its node. Therefore one copy of the table is sufficient.
        group.copy_segments(segments_);
        member.swept_pages = look_at_segments(visit, whole ? 0 : member.swept_pages,
                                              whole ? SIZE_MAX : sweep_pages_left_, stop);
    }
    group.copy_mail(mail_);
    for (const PageRange& range : mail_) {
        const auto at_home = [home](const void*) { return home; };
        if (find_misplaced(range.base, range.bytes, visit, at_home, stop) !=
            range.bytes / page_bytes)
            visit.mail_untouched = true;
    }
    if (visit.outcome != Outcome::done) return;
    for (const auto& [target, pages] : misplaced_) {
        if (pages.empty()) continue;
        if (has_room(target, pages.size())) {
            enqueue(target, pages);
        } else {
            add_to(log_.counters.pages_no_room, pages.size());
            log_.note_no_room(target, pages.size() * page_bytes);
            visit.outcome = std::max(visit.outcome, Outcome::no_room);
        }
    }
}

// Checks at most `most` of the group's pages, beginning with page `from`. Returns the page at which
// it stopped; 0: all pages were checked.
std::size_t MigrationShare::look_at_segments(Visit& visit, std::size_t from, std::size_t most,
                                             const std::stop_token& stop) {
    const auto where = [this, home = visit.request.target](const void* page) {
        return policy_.node_of(page, home);
    };
    std::size_t before = 0;  // pages of the segments before this one
    for (const PageRange& segment : segments_) {
        const std::size_t pages = segment.bytes / page_bytes;
        const std::size_t begin = std::clamp(from, before, before + pages) - before;
        const std::size_t some = std::min(pages - begin, most);
        find_misplaced(segment.base + begin * page_bytes, some * page_bytes, visit, where, stop);
        most -= some;
        sweep_pages_left_ -= std::min(sweep_pages_left_, some);
        if (begin + some < pages) return before + begin + some;
        before += pages;
    }
    return 0;
}

// Adds to misplaced_ the pages of the range that are on a wrong node. Returns how many pages of the
// range are in memory.
template <class Where>
std::size_t MigrationShare::find_misplaced(std::byte* base, std::size_t bytes, Visit& visit,
                                           const Where& where, const std::stop_token& stop) {
    std::size_t resident = 0;
    for (std::size_t done = 0; done < bytes && visit.outcome == Outcome::done;) {
        const std::size_t some = std::min(bytes - done, batch_pages * page_bytes);
        queried_.clear();
        for (std::size_t at = done; at < done + some; at += page_bytes)
            queried_.push_back(base + at);
        statuses_.resize(queried_.size());
        const Status status = os_.query_pages(queried_, statuses_);
        if (status != 0) {
            visit.outcome = std::max(
                Outcome::again, outcome_of_refusal(visit.request.target, status, queried_.size()));
            break;
        }
        for (std::size_t i = 0; i < queried_.size(); ++i) {
            if (statuses_[i] < 0) continue;
            ++resident;
            const NodeId target = where(queried_[i]);
            if (statuses_[i] != index(target)) misplaced_[target].push_back(queried_[i]);
        }
        done += some;
        if (stop.stop_requested()) visit.outcome = Outcome::again;
        std::this_thread::yield();
    }
    return resident;
}

// Reserves room for all pages that a group moves to a node, or for none: to move only a part of
// these pages would not help.
bool MigrationShare::has_room(NodeId node, std::size_t pages) {
    const auto [found, fresh] = room_.try_emplace(node, 0);
    if (fresh) found->second = os_.free_bytes(node);
    if (found->second < pages * page_bytes) return false;
    found->second -= pages * page_bytes;
    return true;
}

// Adds pages of the latest visit to the node's batch.
void MigrationShare::enqueue(NodeId target, const std::vector<void*>& pages) {
    Batch& batch = batches_[target];
    for (std::size_t done = 0; done < pages.size();) {
        const std::size_t some = std::min(pages.size() - done, batch_pages - batch.pages.size());
        const auto first = pages.begin() + static_cast<std::ptrdiff_t>(done);
        batch.pages.insert(batch.pages.end(), first, first + static_cast<std::ptrdiff_t>(some));
        batch.runs.push_back({visits_.size() - 1, some});
        done += some;
        if (batch.pages.size() == batch_pages) flush(target, batch);
    }
}

void MigrationShare::flush(NodeId target, Batch& batch) {
    if (batch.pages.empty()) return;
    statuses_.resize(batch.pages.size());
    const Status status = os_.move_pages(batch.pages, target, statuses_);
    if (status == 0) {
        count_moved_pages(target, batch);
    } else {
        const Outcome outcome = outcome_of_refusal(target, status, batch.pages.size());
        for (const Batch::Run& run : batch.runs) {
            Outcome& worst = visits_[run.visit].outcome;
            worst = std::max(worst, outcome);
        }
    }
    batch.pages.clear();
    batch.runs.clear();
    std::this_thread::yield();
}

void MigrationShare::count_moved_pages(NodeId target, const Batch& batch) {
    std::uint64_t moved = 0, busy = 0, no_room = 0, failed = 0;
    std::size_t page = 0;
    for (const Batch::Run& run : batch.runs) {
        Outcome& outcome = visits_[run.visit].outcome;
        for (const std::size_t end = page + run.pages; page < end; ++page) {
            const int status = statuses_[page];
            if (status == index(target)) {
                ++moved;
            } else if (status == -EBUSY || status == -ENOMEM) {
                ++(status == -EBUSY ? busy : no_room);
                outcome = std::max(outcome, status == -EBUSY ? Outcome::again : Outcome::no_room);
            } else if (status != -ENOENT) {
                // Such pages (for example of the file cache or of shared memory) would fail again
                // next time. The group counts as done without them.
                ++failed;
            }
        }
    }
    add_to(log_.counters.pages_moved, moved);
    add_to(log_.counters.pages_busy, busy);
    add_to(log_.counters.pages_no_room, no_room);
    add_to(log_.counters.pages_failed, failed);
    if (no_room != 0) log_.note_no_room(target, no_room * page_bytes);
}

// Returns the outcome for a group if a whole call fails.
MigrationShare::Outcome MigrationShare::outcome_of_refusal(NodeId target, Status status,
                                                           std::size_t pages) {
    if (status == ENOMEM) {
        add_to(log_.counters.pages_no_room, pages);
        log_.note_no_room(target, pages * page_bytes);
        return Outcome::no_room;
    }
    add_to(log_.counters.pages_failed, pages);
    if (status == EPERM || status == ENOSYS)
        log_.note_refused(status);
    else
        log_.note_no_node(target, status);
    return Outcome::given_up;
}

void MigrationShare::conclude(const Visit& visit) {
    Member& member = *visit.member;
    const bool lacks_room = visit.outcome == Outcome::no_room;
    if (visit.outcome != Outcome::again) {
        member.changes_seen = visit.changes;
        if (!lacks_room) member.changes_done = visit.changes;
    }
    if (index(visit.request.target) < 0) return;
    member.growths_seen = visit.growths;
    member.mail_in_place = visit.outcome == Outcome::given_up ||
                           (visit.outcome == Outcome::done && !visit.mail_untouched);
    if (!visit.moving || lacks_room || visit.outcome == Outcome::again) return;
    member.group->home().finish(visit.request);
    if (visit.outcome == Outcome::done) add_to(log_.counters.groups_served, 1);
}

}  // namespace nw
