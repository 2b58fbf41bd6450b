// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/rank/rank.hpp"

#include <algorithm>

#include "engine/checkpoint/saved_run.hpp"
#include "engine/timewarp/rank/handover.hpp"
#include "event/mail_buffer.hpp"
#include "event/mail_ring.hpp"
#include "lp/group.hpp"
#include "net/transport.hpp"
#include "plan/run_plan.hpp"
#include "results/statistics/live_progress.hpp"
#include "util/handoff.hpp"
#include "util/locks.hpp"

namespace nw {
namespace {

WindowControl window_by_mode(const RunPlan& plan) {
    const bool is_alone = plan.is_alone();
    switch (plan.config.window_mode) {
        case WindowMode::automatic:
            return WindowControl::automatic(is_alone ? 0 : plan.rules.lookahead, plan.rules.lps,
                                            std::uint64_t{plan.ranks} * plan.workers);
        case WindowMode::fixed:
            return WindowControl::fixed(plan.config.window);
        case WindowMode::off:
            break;
    }
    return WindowControl::off();
}

WindowControl window_of(const RunPlan& plan) {
    WindowControl window = window_by_mode(plan);
    if (const SavedRun* const saved = plan.config.restart_from.get())
        window.begin_at(saved->progress.gvt);
    return window;
}

// About 16 MiB of batches. While more batches are unsent, workers neither execute events nor read
// mail, because rollbacks by anti-messages send messages, too. The holder of the net role continues
// to send. On the receiving rank, the holder of the net role receives batches without help from the
// workers.
constexpr std::size_t unsent_batches_max = 4096;

// With more workers, the rings of a rank would take more than 4 MiB, and each turn would read more
// than 16 cache lines.
constexpr std::uint32_t workers_with_rings_max = 16;

}  // namespace

Rank::Rank(const RunPlan& plan, Transport& transport, MemorySource& memory, OutputWriter& output,
           LiveProgress& progress, const std::atomic<int>& stop_signal,
           const std::vector<NodeId>& worker_nodes, const SharedCpuTable& shared_cpu_table)
    : ThreadedRank(plan, transport, progress, stop_signal, plan.config.net_thread),
      memory_(memory),
      memory_budget_(plan, memory, transport.ranks()),
      output_(output),
      gvt_(transport, plan.workers, plan.config.gvt_interval_ms, window_of(plan),
           plan.bounds_arrivals()),
      groups_(plan.partition.groups()),
      owners_(plan.partition.groups()),
      ready_lists_(plan.workers),
      ring_count_(plan.workers > 1 && plan.workers <= workers_with_rings_max ? plan.workers : 0),
      rings_(plan.workers),
      assignments_(worker_nodes.empty() ? std::vector<NodeId>(plan.workers) : worker_nodes,
                   transport.rank(), shared_cpu_table),
      stacks_(plan.workers),
      handed_over_(plan.workers),
      rebinding_(plan.config, plan.moves_between_ranks(), assignments_),
      balance_(plan.moves_between_ranks() ? plan.config.rebind_seconds : 0,
               plan.config.check_rebind > 0, plan.ranks),
      trace_(trace_spans_max()) {
    for (std::uint32_t g = 0; g < plan.partition.groups(); ++g)
        owners_[g] = plan.partition.first_owner(g);
}

Rank::~Rank() = default;

Os& Rank::os() noexcept { return memory_.os(); }

std::size_t Rank::trace_spans_max() const noexcept {
    return plan_.config.trace ? nw::trace_spans_max(exchange_.ranks(), plan_.workers) : 0;
}

Group& Rank::make_group(std::uint32_t g) {
    groups_[g] = std::make_unique<Group>(memory_, g);
    return *groups_[g];
}

void Rank::make_rings_to(std::uint32_t w) {
    if (ring_count_ > 0) rings_[w] = std::make_unique<MailRing[]>(ring_count_);
}

std::span<MailRing> Rank::rings_to(std::uint32_t w) noexcept {
    return {rings_[w].get(), ring_count_};
}

MailRing* Rank::ring(std::uint32_t from, std::uint32_t to) noexcept {
    return ring_count_ > 0 ? &rings_[to][from] : nullptr;
}

Group& Rank::put_group(std::unique_ptr<Group> group) {
    const std::uint32_t g = group->mail.group();
    groups_[g] = std::move(group);
    return *groups_[g];
}

std::unique_ptr<Group> Rank::take_group(std::uint32_t g) noexcept { return std::move(groups_[g]); }

void Rank::drop_group(std::uint32_t g) { groups_[g].reset(); }

bool Rank::net_step(GvtRounds::Clock::time_point now, TraceTurn& trace) {
    if (!net_role_.try_lock()) return true;
    NetStep result;
    {
        const LockGuard role(net_role_, std::adopt_lock);
        result = step(now, trace);
    }
    if (result.is_over) sleepers_.wake_all();
    if (!result.overdue.empty() && progress_.warn) progress_.warn(result.overdue);
    return result.is_expecting;
}

void Rank::net_step() {
    TraceTrack none(0);
    TraceTurn turn(none);
    net_step(GvtRounds::Clock::now(), turn);
}

Rank::NetStep Rank::step(GvtRounds::Clock::time_point now, TraceTurn& trace) {
    if (const std::uint64_t sent = exchange_.send(); sent > 0) trace.mark(TraceKind::send, sent);
    if (exchange_.ranks() > 1) {
        const std::uint64_t received = exchange_.receive([this](std::span<const std::byte> batch) {
            gvt_.receive(epoch_of_batch(batch.data()));
            note_handoff(Handoff::batch_received);
            deliver(batch.data(), batch.size());
        });
        trace.mark(TraceKind::receive, received);
    }
    // Plans are made only while memory is ample, because handing groups over takes memory
    // temporarily.
    if (gvt_.has_gathered() && memory_budget_.level(now) == MemoryBudget::Level::ample) {
        rebinding_.make_plan(gvt_.opened(), now, groups_,
                             [this](std::uint32_t g) { return owner(g).worker; });
        note_handoff(Handoff::plan_made);
    }
    const bool is_over = gvt_.step(now);
    if (trace_.on() && is_over) {
        // A turn reads the clock before this call. So the time at which the turn opens a round may
        // be before the end of the previous round.
        const auto over = TraceTrack::Clock::now();
        trace_.add(TraceKind::round, std::max(gvt_.opened_at(), round_over_), over, 1);
        round_over_ = over;
    }
    // If a round takes long, the warning names the workers or ranks for which the round waits. The
    // handler of such a worker may still return. But the handler may also be in an endless loop, in
    // a state that no correct execution has. Only the user can decide whether to end the run.
    std::string overdue;
    if (plan_.config.watchdog_seconds > 0)
        overdue = gvt_.overdue(now, std::chrono::duration<double>(plan_.config.watchdog_seconds));
    return {gvt_.is_receiving() || exchange_.unsent() > 0, is_over, std::move(overdue)};
}

bool Rank::is_congested() const noexcept { return exchange_.unsent() > unsent_batches_max; }

void Rank::deliver(const std::byte* events, std::size_t size) {
    for_each_wire_event(events, size, [&](const WireEvent& wire) {
        const std::uint32_t g = plan_.partition.position(wire.target).group;
        const std::uint32_t worker = addressee(g).worker;
        groups_[g]->mail.push(reinterpret_cast<const std::byte*>(&wire), wire.bytes(),
                              ready_lists_[worker]);
        sleepers_.wake_for(worker, wire.time);
    });
}

void Rank::pass_on(BottomHalf& mail) {
    const std::uint32_t worker = addressee(mail.group()).worker;
    ready_lists_[worker].push(mail);
    sleepers_.wake(worker);
}

bool Rank::has_work(std::uint32_t w, std::uint32_t seen, TraceTurn& trace) {
    const bool is_expecting =
        sleepers_.keeps_network(w) && net_step(GvtRounds::Clock::now(), trace);
    return is_expecting || failed() || has_mail(w) || gvt_.calls_for(seen);
}

bool Rank::has_mail(std::uint32_t w) noexcept {
    return !ready_lists_[w].empty() ||
           std::ranges::any_of(rings_to(w), [](const MailRing& ring) { return !ring.empty(); });
}

void Rank::bind(const Group& group, std::uint32_t worker) noexcept {
    const auto rank = static_cast<std::uint16_t>(index(id()));
    owners_[group.mail.group()].store({rank, static_cast<std::uint16_t>(worker)},
                                      std::memory_order_relaxed);
}

void Rank::hand_over(Handover&& handover, std::uint32_t to) {
    const LockGuard lock(handover_mutex_);
    for (const Group* group : handover.groups) bind(*group, to | in_transit);
    handed_over_[to].push_back(std::move(handover));
}

std::vector<Handover> Rank::take_over(std::uint32_t w) {
    std::vector<Handover> taken;
    const LockGuard lock(handover_mutex_);
    taken.swap(handed_over_[w]);
    for (const Handover& handover : taken)
        for (const Group* group : handover.groups) bind(*group, w);
    return taken;
}

void Rank::contribute(std::uint32_t w, Contribution& sums) {
    sums.stop = static_cast<std::uint64_t>(stop_signal());
    if (w == 0) {
        sums.resident_bytes = memory_budget_.used_bytes();
        sums.load = sums.load_most = rebinding_.load();
    }
    if (model_failed()) sums.failed_at = model_failed_at();
}

void Rank::announce_model_failure() noexcept {
    gvt_.request_round();
    sleepers_.wake_all();
}

}  // namespace nw
