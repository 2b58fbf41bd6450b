// SPDX-License-Identifier: Apache-2.0
// A Time Warp run of several ranks and workers in one thread. The order of the turns is drawn from
// a seed. The run uses the real Rank and Worker, the in-process network, and a fake machine of
// eight nodes. Nothing in the run depends on the real machine's clock or load, so that a failure
// can be repeated step by step. Every 509 steps, Worker::validate() checks all workers, in the
// builds of all presets.
//
// If Machine::delays is above 0, turns of other workers may interrupt a turn at any handoff
// (util/handoff.hpp).
//
// src/engine/threaded_run.hpp uses threads and barriers. Here, the same steps follow one another:
// set up all workers, start all workers, run turns until all workers have finished, and finalize
// all workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/saved_group.hpp"
#include "engine/checkpoint/saved_run.hpp"
#include "engine/timewarp/rank/rank.hpp"
#include "engine/timewarp/worker/executor.hpp"
#include "engine/timewarp/worker/pauses.hpp"
#include "engine/timewarp/worker/worker.hpp"
#include "engine/timewarp/worker/worker_core_inline.hpp"
#include "event/wire_event.hpp"
#include "lp/group.hpp"
#include "memory/region/memory_source.hpp"
#include "net/transport.hpp"
#include "plan/run_plan.hpp"
#include "results/output/output_writer.hpp"
#include "results/statistics/live_progress.hpp"
#include "results/statistics/run_result.hpp"
#include "tests/engine/outcome.hpp"
#include "tests/support/delays.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/in_process_network.hpp"
#include "util/file/section_file.hpp"

namespace nw::test {

// Counts the anti-messages that a rank receives before their events.
class WatchedTransport final : public Transport {
  public:
    explicit WatchedTransport(Transport& inner) : inner_(inner) {}

    std::uint64_t early_anti_messages() const noexcept { return early_anti_messages_; }
    std::uint64_t batches() const noexcept { return batches_; }
    std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }

    RankId rank() const noexcept override { return inner_.rank(); }
    std::uint32_t ranks() const noexcept override { return inner_.ranks(); }
    void send(RankId destination, std::span<const std::byte> batch) override {
        bytes_sent_ += batch.size();
        inner_.send(destination, batch);
    }
    void receive(std::size_t batches_max, const Receive& take) override {
        inner_.receive(batches_max, [&](std::span<const std::byte> batch) {
            ++batches_;
            for_each_wire_event(batch.data(), batch.size(),
                                [&](const WireEvent& wire) { note(wire); });
            take(batch);
        });
    }
    void begin_reduce_bytes(std::span<const std::byte> own, Combine combine) override {
        inner_.begin_reduce_bytes(own, combine);
    }
    bool poll_reduce_bytes(std::span<std::byte> result) override {
        return inner_.poll_reduce_bytes(result);
    }

  private:
    void note(const WireEvent& wire) {
        const std::pair identity{wire.sender, wire.serial};
        if (wire.kind == WireKind::event) {
            seen_.insert(identity);
        } else if (!seen_.contains(identity)) {
            ++early_anti_messages_;
        }
    }

    Transport& inner_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
    std::uint64_t early_anti_messages_ = 0;
    std::uint64_t batches_ = 0;
    std::uint64_t bytes_sent_ = 0;
};

class SteppedRun {
  public:
    struct Machine {
        std::uint32_t ranks = 1;
        std::uint32_t workers = 2;  // per rank
        NetworkWeather weather{};
        double laziness = 0.3;  // probability that a worker gets all turns for a while
        // Share of the --memory-cap that the fake machine reports as used; 0: no cap. The reported
        // share is drawn anew every 300 steps, between 0.7 and 1.05 times this value.
        double memory_used = 0;
        // Sequence number of each LP's first send. (Ordinals, serials and GVT rounds wrap in every
        // run.)
        std::uint32_t first_sequence = 0;
        double delays = 0;  // share of the handoffs at which a turn is interrupted
    };

    // Requires: config.gvt_interval_ms is 0 or longer than the run (then idle workers request
    // rounds). config.state_saving_interval is not 0. Rebinding is off or random, because decisions
    // that follow from measured times could not be repeated.
    //
    // `directories`: one output folder per rank, or none.
    SteppedRun(const Setup& setup, const Config& config, const Machine& machine, std::uint64_t seed,
               const std::vector<std::string>& directories = {})
        : machine_(machine),
          dice_(seed),
          os_(8, 1),
          config_(config),
          plan_(setup, config_, machine.ranks, machine.workers,
                config_.restart_from ? &config_.restart_from->partition : nullptr),
          memory_(os_, config.memory, plan_.partition.groups()),
          network_(machine.ranks, seed, machine.weather) {
        if (machine.memory_used > 0) memory_.set_memory_cap(memory_cap);
        for (std::uint32_t r = 0; r < machine.ranks; ++r) {
            transports_.push_back(std::make_unique<WatchedTransport>(network_.rank(r)));
            if (!directories.empty())
                tables_.push_back(std::make_unique<CsvTables>(setup.outputs, directories[r]));
            outputs_.push_back(std::make_unique<OutputWriter>(
                directories.empty() ? nullptr : tables_[r].get(), machine.workers));
            ranks_.push_back(std::make_unique<Rank>(plan_, *transports_[r], memory_, *outputs_[r],
                                                    progress_, stop_signal_));
        }
        for (std::uint32_t r = 0; r < machine.ranks; ++r)
            for (std::uint32_t w = 0; w < machine.workers; ++w)
                workers_.push_back(std::make_unique<Worker>(*ranks_[r], WorkerId{w}));
        if (machine.delays > 0)
            stacks_ = std::make_unique<SteppedStacks>(workers_.size(), seed, machine.delays);
    }

    // Runs to the end. Throws the failure of a rank, if there is one.
    void run() {
        run_until([] { return false; });
        for (const auto& worker : workers_) worker->finalize();
    }

    // Sets up a run in which rank `slow` builds its LPs only after all other ranks have started
    // their LPs. Before the slow rank builds its LPs, it receives the messages of the other ranks,
    // as a rank's pump does. Returns true if all these messages arrived before the slow rank built
    // its LPs.
    bool set_up_with_slow_rank(std::uint32_t slow) {
        is_set_up_ = true;
        const auto is_slow = [&](const auto& worker) {
            return (&worker - workers_.data()) / machine_.workers == slow;
        };
        for (const auto& worker : workers_)
            if (!is_slow(worker)) build(*worker, nullptr);
        for (const auto& worker : workers_)
            if (!is_slow(worker)) worker->start(now_);
        for (int tick = 0; tick < 10'000; ++tick) {
            network_.tick();
            for (std::uint32_t r = 0; r < ranks_.size(); ++r)
                if (r == slow)
                    ranks_[r]->receive_early();
                else
                    ranks_[r]->net_step(now_, no_trace_);
        }
        const bool all_came = network_.idle();
        for (const auto& worker : workers_)
            if (is_slow(worker)) build(*worker, nullptr);
        for (const auto& worker : workers_)
            if (is_slow(worker)) worker->start(now_);
        return all_came;
    }

    // Builds and starts all LPs. For a test that has its own schedule and does not call run().
    void set_up() {
        is_set_up_ = true;
        const SavedRun* const saved = plan_.config.restart_from.get();
        for (const auto& worker : workers_) build(*worker, saved);
        if (saved != nullptr) return;
        for (const auto& worker : workers_) worker->start(now_);
    }
    // Runs one turn of a worker, and one tick of the network. `now`: time since the start.
    bool turn(std::size_t worker, std::chrono::nanoseconds now) {
        const bool worked = workers_[worker]->turn(now_ + now);
        network_.tick();
        return worked;
    }

    // Runs until reached() is true, or to the end.
    template <class Condition>
    void run_until(Condition&& reached) {
        if (!is_set_up_) set_up();
        while (!finished() && !reached()) {
            step();
            if (paused()) {
                finish_turns();
                move_groups();
            }
            for (const auto& rank : ranks_) rank->rethrow_failure();
            if (steps_ > steps_max) throw std::runtime_error("the run does not end");
        }
        finish_turns();
    }

    VirtualTime gvt() const noexcept { return progress_.gvt; }
    bool finished() const {
        return std::all_of(workers_.begin(), workers_.end(),
                           [](const auto& worker) { return worker->finished(); });
    }
    const Workers& workers() const noexcept { return workers_; }
    Rank& rank(std::uint32_t r) noexcept { return *ranks_[r]; }
    FakeOs& os() noexcept { return os_; }

    // True if all workers have paused to be saved, after save_soon() or the stop signal.
    bool paused() const {
        return std::all_of(workers_.begin(), workers_.end(),
                           [](const auto& worker) { return worker->paused(); });
    }
    void save_soon() { workers_[0]->pauses().save_at(now_); }

    // Saves what a Simulation saves, except output: one file per worker, in `folder`. Requires:
    // paused().
    SavedRun save(const std::string& folder) {
        SavedRun saved;
        saved.folder = folder;
        saved.partition = plan_.partition.save();
        const AddressMap map(linux_os());
        for (const auto& worker : workers_) {
            const auto number = static_cast<std::uint32_t>(saved.files.size());
            saved.files.push_back("groups-" + std::to_string(number));
            SectionWriter file(folder + "/" + saved.files.back());
            const SavedPart part = worker->pauses().save(file, number, map);
            file.finish();
            saved.progress.combine(part.progress);
            saved.groups.insert(saved.groups.end(), part.groups.begin(), part.groups.end());
        }
        std::sort(saved.groups.begin(), saved.groups.end(),
                  [](const SavedGroup& a, const SavedGroup& b) { return a.group < b.group; });
        return saved;
    }
    void resume() {
        have_moved_ = false;
        for (const auto& worker : workers_) worker->pauses().resume();
    }

    // Calls on_end() of all LPs, as a Simulation does. The output of on_end() goes to the LP's
    // rank. Requires: run() has returned.
    void end() {
        for (const auto& output : outputs_) output->finish();
        MeasureSums measures(plan_.setup.measures, plan_.measure_times);
        for (std::uint32_t lp = 0; lp < plan_.setup.lps; ++lp) {
            Worker& worker = worker_of(owner_of(plan_.partition.position(lp).group));
            worker.lps().run_on_end(worker.core().lp(lp), end_time(), measures);
        }
        for (const auto& tables : tables_) tables->finish();
    }

    std::string digest() const {
        Digest sum;
        for (const auto& worker : workers_) add_digest(worker->core().groups, sum);
        return sum.hex();
    }
    Counters counters() const {
        Counters sum;
        for (const auto& worker : workers_) sum.add(worker->core().counters);
        return sum;
    }
    EndReason reason() const { return workers_[0]->end().reason; }
    VirtualTime end_time() const {
        VirtualTime time = workers_[0]->end().time;
        if (time != time_infinity) return time;
        time = 0;
        for (const auto& worker : workers_) time = std::max(time, worker->end().last_commit);
        return time;
    }

    // Messages sent minus messages received, over all workers.
    std::int64_t balance() const {
        std::int64_t sum = 0;
        for (const auto& worker : workers_) sum += worker->core().epochs.balance();
        return sum;
    }
    // Touched bytes of all bottom halves.
    std::size_t mail_bytes() const {
        std::size_t sum = 0;
        for (const auto& worker : workers_)
            for (const Group* group : worker->core().groups)
                sum += group->memory.mail().touched_bytes();
        return sum;
    }
    bool network_is_idle() const { return network_.idle(); }
    std::uint64_t early_anti_messages() const {
        std::uint64_t sum = 0;
        for (const auto& transport : transports_) sum += transport->early_anti_messages();
        return sum;
    }
    // Bytes that each rank has given to its network.
    std::vector<std::uint64_t> bytes_sent() const {
        std::vector<std::uint64_t> bytes;
        for (const auto& transport : transports_) bytes.push_back(transport->bytes_sent());
        return bytes;
    }
    std::uint64_t steps() const noexcept { return steps_; }
    // Number of interrupted turns at each handoff.
    DelayCounts delay_counts() const {
        return stacks_ != nullptr ? stacks_->counts() : DelayCounts();
    }
    std::atomic<int>& stop_signal() noexcept { return stop_signal_; }

  private:
    // Does what GroupMover does, without threads: if groups are to move in this pause, a drawn
    // share of them moves to other ranks.
    void move_groups() {
        const Standstill::Purpose purpose = workers_[0]->pauses().purpose();
        if (!purpose.move || std::exchange(have_moved_, true)) return;
        std::vector<RankLoads> loads(machine_.ranks);
        for (std::uint32_t g = 0; g < plan_.partition.groups(); ++g) {
            const Partition::Owner owner = owner_of(g);
            loads[owner.rank].groups.push_back({{g, owner.worker, 1}, 0});
        }
        const std::vector<RankMove> moves =
            draw_rank_moves(loads, machine_.workers, config_.check_rebind, dice_.below(1 << 30));
        const AddressMap map(linux_os());
        for (const RankMove& move : moves) {
            const auto parcels = worker_of(move.from).pauses().give_groups(
                {move.group}, {}, map, [](const StrayPointers&) { return true; });
            ranks_[move.from.rank]->drop_group(move.group);
            for (const auto& rank : ranks_) rank->set_owner(move.group, move.to);
            Worker& to = worker_of(move.to);
            to.lps().take_group(move.group, *parcels[0], to.pauses().paused_at());
        }
        for (const auto& rank : ranks_) rank->measure_loads_anew(now_);
        ranks_[0]->balance().note_pause(!moves.empty(), {}, now_);
        if (!purpose.save) resume();
    }

    // Every rank stores which rank owns a group. The owning rank stores which worker owns the
    // group.
    Partition::Owner owner_of(std::uint32_t group) const noexcept {
        return ranks_[ranks_[0]->owner(group).rank]->owner(group);
    }
    Worker& worker_of(Partition::Owner owner) {
        return *workers_[owner.rank * machine_.workers + owner.worker];
    }

    static constexpr std::uint64_t steps_max = 20'000'000;
    static constexpr std::uint64_t memory_cap = std::uint64_t{256} << 20;
    static constexpr std::uint64_t steps_between_memory_draws = 300;
    static constexpr std::uint64_t steps_between_walks = 509;

    void build(Worker& worker, const SavedRun* saved) {
        worker.executor().adopt_thread();
        if (saved != nullptr) {
            worker.lps().read_groups(*saved);
            return;
        }
        worker.lps().build_groups();
        for (const Group* group : worker.core().groups)
            for (std::uint32_t i = 0; i < group->count; ++i)
                group->lps[i].sequence = machine_.first_sequence;
    }

    void take_turn(std::size_t worker) {
        const auto turn = [this, worker] { workers_[worker]->turn(now_); };
        if (stacks_ != nullptr)
            stacks_->step(worker, turn);
        else
            turn();
    }
    void finish_turns() {
        if (stacks_ != nullptr) stacks_->finish_steps();
    }
    // One turn of some worker, then possibly a tick of the network. Sometimes one worker gets all
    // turns for a while, as if the others were descheduled.
    void step() {
        ++steps_;
        if (machine_.memory_used > 0 && steps_ % steps_between_memory_draws == 1) {
            const double share = machine_.memory_used * static_cast<double>(700 + dice_.below(350));
            MemoryFigures figures;
            figures.resident = static_cast<std::uint64_t>(share / 1000 * memory_cap);
            os_.set_memory(figures);
        }
        if (favoured_turns_ > 0) {
            --favoured_turns_;
        } else {
            favoured_ = dice_.below(workers_.size());
            if (dice_.chance(machine_.laziness)) favoured_turns_ = dice_.below(20);
        }
        now_ += std::chrono::microseconds(20);
        take_turn(favoured_);
        if (steps_ % steps_between_walks == 0 && (stacks_ == nullptr || stacks_->is_idle()))
            for (const auto& worker : workers_) worker->validate();
        if (dice_.chance(0.7)) network_.tick();
    }

    Machine machine_;
    Dice dice_;
    FakeOs os_;
    Config config_;
    RunPlan plan_;
    MemorySource memory_;
    LiveProgress progress_;
    std::atomic<int> stop_signal_{0};
    InProcessNetwork network_;
    std::vector<std::unique_ptr<WatchedTransport>> transports_;
    std::vector<std::unique_ptr<CsvTables>> tables_;
    std::vector<std::unique_ptr<OutputWriter>> outputs_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    Workers workers_;
    GvtRounds::Clock::time_point now_ = GvtRounds::Clock::now();
    bool have_moved_ = false;  // groups have moved between ranks in this pause
    TraceTrack no_track_{0};
    TraceTurn no_trace_{no_track_};
    bool is_set_up_ = false;
    std::uint64_t steps_ = 0;
    std::size_t favoured_ = 0;
    std::size_t favoured_turns_ = 0;
    std::unique_ptr<SteppedStacks> stacks_;  // null: no turn is interrupted
};

}  // namespace nw::test
