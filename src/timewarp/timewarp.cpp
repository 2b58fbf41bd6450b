// The Time Warp engine on one rank: worker threads around Rank and Worker, and the ending.

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "checkpoint/saved_run.hpp"
#include "engine/engines.hpp"
#include "engine/worker_start.hpp"
#include "numa/region/shared_arena.hpp"
#include "stats/stopwatch.hpp"
#include "timewarp/placement_watch.hpp"
#include "timewarp/rank.hpp"
#include "timewarp/run_saver.hpp"
#include "timewarp/worker.hpp"

namespace nw {
namespace {

// Turns without work after which a worker lets others have its CPU, should they need it. Who waits
// there may be one of ours, and then it is the one that is waited for; or some other program, which
// keeps the CPU for milliseconds. On a machine with two cores (2026-11-21) PHOLD with 64 LPs beside
// two such programs (`phold_bench --sections foreign`, "on all cores") kept a tenth of its speed with
// two workers that wait 1000 turns (100 µs), less than a hundredth with 8; alone it was as fast with
// both. Eight workers on the two cores took twenty times as long with 1000 as with 8.
constexpr std::uint32_t idle_turns_before_yield = 1000;
constexpr std::uint32_t idle_turns_before_yield_shared = 8;

void turn_until_still(Rank& rank, Worker& worker, bool share_cpus) {
    const std::uint32_t patience =
        share_cpus ? idle_turns_before_yield_shared : idle_turns_before_yield;
    std::uint32_t idle_turns = 0;
    while (!worker.finished() && !worker.paused() && !rank.failed()) {
        if (worker.turn()) {
            idle_turns = 0;
        } else if (++idle_turns > patience) {
            std::this_thread::yield();
        } else {
            spin_pause();
        }
    }
}

// --net-thread: the net role in a thread of its own, which is not bound to a core and takes a pause
// wherever there is nothing to do.
class NetThread {
  public:
    explicit NetThread(Rank& rank)
        : rank_(rank), trace_(rank.plan().config.net_thread ? rank.trace_spans_max() : 0) {
        if (rank.plan().config.net_thread)
            thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
    }

    // Requires: it has ended.
    const TraceTrack& trace() const noexcept { return trace_; }

    // Every group exists: other ranks, which may be ahead, have somewhere to send to.
    void begin() noexcept { begun_.store(true, std::memory_order_release); }

    void end() {
        thread_.request_stop();
        if (thread_.joinable()) thread_.join();
    }

  private:
    void run(const std::stop_token& stop) {
        TraceTurn turn(trace_);
        try {
            while (!stop.stop_requested()) {
                // Pairs with the release in begin(): the groups are whole.
                if (begun_.load(std::memory_order_acquire)) {
                    const auto now = GvtRounds::Clock::now();
                    turn.begin(now);
                    rank_.net_step(now, turn);
                }
                std::this_thread::yield();
            }
        } catch (...) {
            rank_.fail(std::current_exception());
        }
    }

    Rank& rank_;
    TraceTrack trace_;
    std::atomic<bool> begun_{false};
    std::jthread thread_;
};

// Each worker builds its own groups, whose pages are then born beside it. The baseline does not know
// of nodes: one thread builds everything (docs/decisions/0016).
void make_groups(Rank& rank, std::uint32_t w) {
    if (const SavedRun* saved = rank.plan().config.restart_from.get()) {
        rank.worker(w).read_groups(*saved);
    } else if (rank.plan().config.memory == MemoryMode::numa) {
        rank.worker(w).build_groups();
    } else if (w == 0) {
        for (std::uint32_t i = 0; i < rank.plan().workers; ++i) rank.worker(i).build_groups();
    }
}

// A run that goes on cuts its tables only when no rank can refuse to go on any more.
void begin_output(EngineRun& run) {
    if (!run.plan.config.restart_from) return;
    run.ranks.share({});
    run.begin_output();
}

void keep_track(RunResult& result, std::string name, const TraceTrack& track) {
    if (track.on()) result.trace.push_back(track.named(std::move(name)));
}

void say_what_is_left_out(RunResult& result) {
    std::uint64_t left_out = 0, kept = 0;
    for (const NamedTrack& track : result.trace) {
        left_out += track.left_out;
        kept += track.spans.size();
    }
    if (left_out > 0)
        result.notices.push_back(fmt::format(
            "--trace: {} spans of {} in the middle of the run are left out; the first and the last "
            "of each worker are there",
            left_out, left_out + kept));
}

// Where the run begins: where the one left off that it goes on from.
RunSample beginning_of(const Config& config) {
    if (!config.restart_from) return {};
    const SavedProgress& saved = config.restart_from->progress;
    return {.seconds = saved.wall_seconds,
            .gvt = saved.gvt,
            .committed_events = saved.totals[Counter::committed_events],
            .executed_events = saved.totals[Counter::executed_events],
            .rolled_back_events = saved.totals[Counter::rolled_back_events],
            .gvt_rounds = saved.totals[Counter::gvt_rounds]};
}

// Of all ranks' times.
VirtualTime latest(RankGroup& ranks, VirtualTime own) {
    std::string bytes(sizeof own, '\0');
    std::memcpy(bytes.data(), &own, sizeof own);
    for (const std::string& theirs : ranks.share(bytes)) {
        VirtualTime time;
        std::memcpy(&time, theirs.data(), sizeof time);
        own = std::max(own, time);
    }
    return own;
}

std::vector<NodeId> nodes_of(const WorkerPlaces& where) {
    std::vector<NodeId> nodes;
    for (const Place& place : where.places) nodes.push_back(place.node);
    return nodes;
}

std::vector<GroupMemory*> memory_of_groups(Rank& rank) {
    std::vector<GroupMemory*> memory;
    for (std::uint32_t g = 0; g < rank.plan().partition.groups(); ++g)
        if (Group* group = rank.group(g)) memory.push_back(&group->memory);
    return memory;
}

void run_rank(EngineRun& run, Rank& rank) {
    SharedArena::ReadOnly shared;  // ends before LPs are destroyed
    PlacementWatch placement(run.memory.os(), run.plan.config, run.places, run.progress,
                             run.result.numa.nodes, run.result.notices);
    const std::uint32_t workers = run.plan.workers;
    NetThread net_thread(rank);
    std::vector<WorkerTally> tallies(workers);
    std::barrier<> barrier(static_cast<std::ptrdiff_t>(workers));
    RunSaver saver(run, rank, barrier);
    bool is_to_be_saved = false;  // by worker 0, between two barriers
    RunResult& result = run.result;
    const auto guarded = [&](auto&& step) {
        try {
            if (!rank.failed()) step();
        } catch (...) {
            rank.fail(std::current_exception());
        }
    };
    std::vector<WatchedThread*> threads;
    for (std::uint32_t w = 0; w < workers; ++w) threads.push_back(&rank.worker(w));
    const HandlerWatch watch(run.plan.config, threads, run.progress);
    run_worker_threads(
        run.memory.os(), run.places,
        [&](std::uint32_t w) {
            Worker& worker = rank.worker(w);
            guarded([&] { worker.adopt_thread(); });
            barrier.arrive_and_wait();  // another's groups may be built here
            guarded([&] { start_worker(run.model); });
            guarded([&] { make_groups(rank, w); });
            barrier.arrive_and_wait();  // every group exists: events may be sent
            if (w == 0 && run.plan.config.protect_shared) shared.begin();
            barrier.arrive_and_wait();  // handlers may run
            if (w == 0) guarded([&] { begin_output(run); });
            if (w == 0) guarded([&] { net_thread.begin(); });
            if (w == 0) guarded([&] { placement.begin(memory_of_groups(rank)); });
            if (!run.plan.config.restart_from) guarded([&] { worker.start(); });
            barrier.arrive_and_wait();
            const Stopwatch stopwatch;
            if (w == 0) {
                const RunSample first = beginning_of(run.plan.config);
                rank.history().begin(RunHistory::Clock::now(), first);
                run.progress.begin(first.gvt);
            }
            if (w == 0) saver.begin();
            for (;;) {
                guarded([&] { turn_until_still(rank, worker, run.places.share_cpus); });
                barrier.arrive_and_wait();  // nobody is executing
                if (w == 0) is_to_be_saved = worker.paused() && !rank.failed();
                barrier.arrive_and_wait();
                if (!is_to_be_saved) break;
                saver.save(w);
            }
            if (w == 0) result.wall_seconds = stopwatch.wall_seconds();
            tallies[w].busy_seconds = stopwatch.thread_cpu_seconds();
            if (w == 0) guarded([&] { placement.last_look(); });
            barrier.arrive_and_wait();  // what was looked at may go
            if (rank.failed()) worker.report_earlier_failures();
            guarded([&] { worker.finalize(); });
            worker.leave_thread();
        },
        result.notices);
    net_thread.end();
    rank.rethrow_failure();
    placement.finish(result.numa, result.notices);

    result.reason = rank.worker(0).end_reason();
    // Of a run that was saved RunSaver has said it.
    if (result.reason == EndReason::interrupted && !run.plan.config.save.on())
        result.signal = static_cast<int>(rank.gvt().result().sums.stop);
    result.end_time = rank.worker(0).end_time();
    if (result.end_time == time_infinity) {
        result.end_time = 0;
        for (std::uint32_t w = 0; w < workers; ++w)
            result.end_time = std::max(result.end_time, rank.worker(w).last_committed_time());
        result.end_time = latest(run.ranks, result.end_time);
    }
    result.segments_bytes = run.memory.segment_bytes();
    run.output.finish();
    start_worker(run.model);  // this thread's turn: on_end(), destructors
    if (result.reason != EndReason::interrupted) {
        AdoptedThread<Worker> thread;
        for (std::uint32_t lp = 0; lp < run.plan.setup.lps; ++lp) {
            const Partition::Owner owner = rank.owner(run.plan.partition.place(lp).group);
            if (owner.rank != index(rank.id())) continue;
            Worker& worker = rank.worker(owner.worker);
            thread.adopt(worker);
            worker.run_on_end(worker.lp(lp), result.end_time);
        }
    }
    result.history = rank.history().samples();
    result.communication = {std::vector<std::uint64_t>(run.ranks.ranks())};
    for (std::uint32_t w = 0; w < workers; ++w) {
        Worker& worker = rank.worker(w);
        result.messages_left += worker.balance();
        worker.add_digest(result.digest);
        worker.add_rollback_spots(result.rollback_spots);
        tallies[w].counters = worker.counters();
        tallies[w].rollback_lengths = worker.rollback_lengths();
        worker.add_sent_to(result.communication.front());
        tallies[w].groups = &worker.groups();
        result.numa.memory += worker.memory_kinds();
        report_worker(result, run.places, w, tallies[w]);
        keep_track(result, fmt::format("worker {}", w), worker.trace());
    }
    // The last of the model's code, when all that is to be known of the LPs is.
    for (std::uint32_t w = 0; w < workers; ++w) {
        const AdoptedThread adopted(rank.worker(w));
        rank.worker(w).destroy_lps();
    }
    keep_track(result, "GVT rounds", rank.trace());
    keep_track(result, "network", net_thread.trace());
    say_what_is_left_out(result);
}

}  // namespace

void run_timewarp(EngineRun& run) {
    const std::unique_ptr<Transport> transport = run.ranks.open_transport(
        sizeof(WireEvent) + WireEvent::padded(run.plan.rules.payload_bytes_max));
    std::optional<Rank> rank;
    try {
        rank.emplace(run.plan, *transport, run.memory, run.output, run.progress, run.stop_signal,
                     nodes_of(run.places));
        run_rank(run, *rank);
    } catch (...) {
        if (run.ranks.ranks() > 1 && run.progress.failed) run.progress.failed();
        throw;
    }
}

}  // namespace nw
