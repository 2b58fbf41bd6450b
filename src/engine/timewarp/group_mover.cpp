// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/group_mover.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "engine/checkpoint/saved_group.hpp"
#include "engine/timewarp/rank/rank.hpp"
#include "engine/timewarp/worker/pauses.hpp"
#include "lp/group.hpp"
#include "util/packing.hpp"

namespace nw {
namespace {

// The initial estimate: 1 GB/s. All ranks use the largest measured value.
constexpr double assumed_ns_per_byte = 1;
// A batch of moves ends when its groups, over all ranks, have this total size.
constexpr std::uint64_t batch_bytes = std::uint64_t{64} << 20;
// MPI counts bytes in an int.
constexpr std::uint64_t group_bytes_most = std::uint64_t{1} << 30;

template <class Part, class Loads>
void visit_loads(Part& part, Loads& loads) {
    part(loads.host);
    part(loads.has_sampled);
    part(loads.room);
    part(loads.ns_per_byte);
    part(loads.groups);
}

// The figures that each rank shares with the others.
struct OwnLoads {
    std::string host;
    bool has_sampled = true;  // loads were measured since groups last moved
    std::uint64_t room = 0;   // bytes that the rank can receive
    double ns_per_byte = 0;
    std::vector<RankLoads::OfGroup> groups;
};

std::uint64_t bytes_of(const Group& group) {
    std::uint64_t bytes = 0;
    for (const Segment& segment : group.memory.segments().entries()) bytes += segment.bytes;
    return bytes;
}

}  // namespace

GroupMover::GroupMover(EngineRun& run, Rank& rank, const Workers& workers, std::barrier<>& barrier,
                       std::function<void()> release_groups, std::function<void()> watch_groups)
    : run_(run),
      rank_(rank),
      workers_(workers),
      barrier_(barrier),
      release_groups_(std::move(release_groups)),
      watch_groups_(std::move(watch_groups)),
      ns_per_byte_(assumed_ns_per_byte) {}

void GroupMover::move(std::uint32_t w) {
    const auto guarded = [&](auto&& step) { rank_.guarded(step); };
    if (w == 0) {
        moves_.clear();
        guarded([&] { plan(); });
    }
    for (;;) {
        barrier_.arrive_and_wait();
        if (moves_.empty()) break;
        guarded([&] { pack(w); });
        barrier_.arrive_and_wait();
        if (w == 0) {
            guarded([&] { remove_staying_groups(); });
            guarded([&] { pass_on(); });
        }
        barrier_.arrive_and_wait();
        guarded([&] { unpack(w); });
        barrier_.arrive_and_wait();
        if (w == 0) take_batch();
    }
    if (w == 0) guarded([&] { note(); });
    barrier_.arrive_and_wait();  // worker 0 has called watch_groups_()
}

void GroupMover::plan() {
    if (!addresses_agree_) compare_addresses();
    const std::vector<RankLoads> ranks = share_loads();
    const Config& config = run_.plan.config;
    ++pauses_;
    planned_.clear();
    groups_moved_ = 0;
    if (!ranks.empty())
        planned_ =
            config.check_rebind > 0
                ? draw_rank_moves(ranks, run_.plan.workers, config.check_rebind,
                                  config.seed ^ pauses_, group_bytes_most)
                : plan_rank_moves(ranks, run_.plan.workers, {ns_per_byte_, group_bytes_most});
    if (planned_.empty()) return;
    map_.emplace(run_.memory.os(), rank_.stacks());
    release_groups_();
    take_batch();
}

void GroupMover::take_batch() {
    auto end = planned_.begin();
    for (std::uint64_t bytes = 0; end != planned_.end() && bytes < batch_bytes; ++end)
        bytes += end->bytes;
    moves_.assign(planned_.begin(), end);
    planned_.erase(planned_.begin(), end);
    if (rank_.failed()) moves_.clear();
    parcels_.assign(moves_.size(), std::nullopt);
}

// The loads of all ranks; empty if a rank has not measured its loads since groups last moved.
std::vector<RankLoads> GroupMover::share_loads() {
    OwnLoads own{run_.ranks.host(),
                 rank_.has_sampled_loads(),
                 rank_.memory_budget().room_bytes(GvtRounds::Clock::now()),
                 ns_per_byte_,
                 {}};
    for (const BoundGroup& group : rank_.loads())
        own.groups.push_back({group, bytes_of(*rank_.group(group.group))});
    Packer packer;
    visit_loads(packer, own);
    std::vector<std::string> hosts;
    std::vector<RankLoads> ranks;
    bool have_sampled = true;
    for (const std::string& bytes : run_.ranks.share(packer.take())) {
        OwnLoads theirs;
        Unpacker unpacker(bytes);
        visit_loads(unpacker, theirs);
        auto host = std::find(hosts.begin(), hosts.end(), theirs.host);
        if (host == hosts.end()) host = hosts.insert(hosts.end(), theirs.host);
        ranks.push_back({NodeId{static_cast<int>(host - hosts.begin())}, std::move(theirs.groups),
                         theirs.room});
        have_sampled &= theirs.has_sampled;
        ns_per_byte_ = std::max(ns_per_byte_, theirs.ns_per_byte);
    }
    if (!have_sampled) ranks.clear();
    return ranks;
}

void GroupMover::compare_addresses() {
    Packer packer;
    packer(AddressMap::program_shift());
    for (const LoadedModule& module : modules_) {
        packer(module.identity);
        packer(module.begin);
    }
    const std::vector<std::string> said = run_.ranks.share(packer.take());
    addresses_agree_ = std::all_of(said.begin(), said.end(),
                                   [&](const std::string& theirs) { return theirs == said[0]; });
}

// Pointers that constructors have stored are replaced by pointers from the constructors on the new
// rank. All other pointers must be valid on the new rank, with the same meaning.
bool GroupMover::may_leave(const StrayPointers& strays) const noexcept {
    const bool points_to_module = std::any_of(strays.to_module.begin(), strays.to_module.end(),
                                              [](std::uint64_t pointers) { return pointers > 0; });
    return strays.elsewhere == 0 &&
           (*addresses_agree_ || (strays.to_program == 0 && !points_to_module));
}

bool GroupMover::is_own(Partition::Owner owner) const noexcept {
    return owner.rank == index(rank_.id());
}

void GroupMover::pack(std::uint32_t w) {
    std::vector<std::size_t> own;
    std::vector<std::uint32_t> leaving;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
        if (!is_own(moves_[i].from) || moves_[i].from.worker != w) continue;
        own.push_back(i);
        leaving.push_back(moves_[i].group);
    }
    if (leaving.empty()) return;
    auto parcels = workers_[w]->pauses().give_groups(
        leaving, modules_, *map_,
        [this](const StrayPointers& strays) { return may_leave(strays); });
    for (std::size_t i = 0; i < own.size(); ++i) parcels_[own[i]] = std::move(parcels[i]);
}

// Each rank shares the numbers of its groups that cannot leave; all ranks remove the moves of these
// groups.
void GroupMover::remove_staying_groups() {
    std::vector<std::uint32_t> staying;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
        if (!is_own(moves_[i].from) || parcels_[i]) continue;
        rank_.group(moves_[i].group)->stays = true;
        staying.push_back(moves_[i].group);
    }
    if (!staying.empty() && !std::exchange(staying_reported_, true) && run_.progress.warn)
        run_.progress.warn(fmt::format(
            "--rebind-ranks: {} of the groups to be moved stay on rank {}, because handlers of "
            "their LPs have stored pointers to memory outside of the LPs; docs/how-to/mpi.md",
            staying.size(), index(rank_.id())));
    Packer packer;
    packer(staying);
    for (const std::string& bytes : run_.ranks.share(packer.take())) {
        std::vector<std::uint32_t> theirs;
        Unpacker unpacker(bytes);
        unpacker(theirs);
        for (const std::uint32_t g : theirs) {
            const auto move = std::find_if(moves_.begin(), moves_.end(),
                                           [&](const RankMove& m) { return m.group == g; });
            parcels_.erase(parcels_.begin() + (move - moves_.begin()));
            moves_.erase(move);
        }
    }
}

// All ranks process the moves in the same order, so that no deadlock is possible: a rank that
// blocks in send() or receive() waits for a rank that will reach the same move.
void GroupMover::pass_on() {
    const Stopwatch watch;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
        const RankMove& move = moves_[i];
        if (is_own(move.from)) {
            run_.ranks.send(RankId{move.to.rank}, *parcels_[i]);
            parcels_[i].reset();
            rank_.drop_group(move.group);
        } else if (is_own(move.to)) {
            parcels_[i] = run_.ranks.receive(RankId{move.from.rank});
        }
        if (is_own(move.from) || is_own(move.to)) bytes_passed_ += move.bytes;
        rank_.set_owner(move.group, move.to);
    }
    groups_moved_ += moves_.size();
    seconds_passing_ += watch.wall_seconds();
}

void GroupMover::unpack(std::uint32_t w) {
    for (std::size_t i = 0; i < moves_.size(); ++i) {
        if (!is_own(moves_[i].to) || moves_[i].to.worker != w) continue;
        workers_[w]->lps().take_group(moves_[i].group, *parcels_[i],
                                      workers_[w]->pauses().paused_at());
        parcels_[i].reset();
    }
}

void GroupMover::note() {
    const GvtRounds::Clock::time_point now = GvtRounds::Clock::now();
    if (map_) watch_groups_();
    map_.reset();
    rank_.measure_loads_anew(now);
    note_price();
    const GvtRounds::Clock::duration took = now - workers_[0]->pauses().began_at();
    rank_.balance().note_pause(groups_moved_ > 0, took, now);
    BalanceReport& report = run_.result.balance;
    ++report.pauses;
    report.seconds += std::chrono::duration<double>(took).count();
}

// In each pause in which no group moves on any rank, ns_per_byte_ is halved, but is never less than
// `assumed_ns_per_byte`. Without the halving, a single bad measurement could prevent all moves, and
// without moves there would be no new measurement.
void GroupMover::note_price() noexcept {
    if (bytes_passed_ > 0)
        ns_per_byte_ = 1e9 * seconds_passing_ / static_cast<double>(bytes_passed_);
    else if (groups_moved_ == 0)
        ns_per_byte_ = std::max(assumed_ns_per_byte, ns_per_byte_ / 2);
    bytes_passed_ = 0;
    seconds_passing_ = 0;
}

}  // namespace nw
