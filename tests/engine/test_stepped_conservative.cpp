// SPDX-License-Identifier: Apache-2.0
// Goal: the conservative engine over several ranks and workers gives the sequential result under
// any schedule and any network: with late or reordered batches, stalled links, and workers that get
// no turns. It stops at a signal, and reports the first of several failures.
//
// Method: as in test_stepped.cpp, the whole run is in one thread: the real WindowRank and
// WindowWorker over the in-process network. One seed determines model, machine, network delays and
// schedule. A failure prints the seed; NUMAWARP_TEST_SEED=… repeats the same steps.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/inorder/window_rank.hpp"
#include "engine/inorder/window_worker.hpp"
#include "event/wire_event.hpp"
#include "memory/region/memory_source.hpp"
#include "net/single_rank.hpp"
#include "results/measures/measure_sums.hpp"
#include "tests/engine/stepped_comparison.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "util/check.hpp"

namespace nw::test {
namespace {

class SteppedWindows {
  public:
    // `folders`: one output folder per rank, or none.
    SteppedWindows(const Setup& setup, const Config& config, const SteppedRun::Machine& machine,
                   std::uint64_t seed, const std::vector<TemporaryFolder>& folders = {})
        : machine_(machine),
          dice_(seed),
          os_(8, 1),
          config_(config),
          plan_(setup, config_, machine.ranks, machine.workers, nullptr),
          memory_(os_, config.memory, plan_.partition.groups()),
          network_(machine.ranks, seed, machine.weather),
          step_takes_(dice_.chance(0.5) ? 10 : 300) {
        for (std::uint32_t r = 0; r < machine.ranks; ++r) {
            if (!folders.empty())
                tables_.push_back(std::make_unique<CsvTables>(setup.outputs, folders[r].path()));
            outputs_.push_back(std::make_unique<OutputWriter>(
                folders.empty() ? nullptr : tables_[r].get(), machine.workers));
            Transport& transport =
                machine.ranks == 1 ? static_cast<Transport&>(single_rank_) : network_.rank(r);
            ranks_.push_back(std::make_unique<WindowRank>(plan_, transport, memory_, *outputs_[r],
                                                          progress_, stop_signal_));
            for (std::uint32_t w = 0; w < machine.workers; ++w)
                workers_.push_back(std::make_unique<WindowWorker>(*ranks_[r], WorkerId{w}));
        }
    }

    // Runs until all workers have finished. Throws the failure of a worker, if there is one.
    void run() {
        const auto slow = static_cast<std::uint32_t>(dice_.below(machine_.ranks));
        for (std::uint32_t r = 0; r < machine_.ranks; ++r)
            if (r != slow) set_up(r);
        // Before its set-up, the slow rank receives the messages that the other ranks have sent, as
        // SetupPump does in a run with threads.
        for (std::size_t tick = dice_.below(1000); tick > 0; --tick) {
            network_.tick();
            for (std::uint32_t r = 0; r < machine_.ranks; ++r)
                if (r == slow)
                    ranks_[r]->receive_early();
                else
                    ranks_[r]->net_step();
        }
        set_up(slow);
        while (!finished()) step();
        for (const auto& worker : workers_) worker->executor().hand_over_output(time_infinity);
        for (std::uint32_t r = 0; r < ranks_.size(); ++r)
            if (sums().failed_rank == r || ranks_[r]->failed()) ranks_[r]->rethrow_failure();
    }

    // Calls on_end() of all LPs. The output of on_end() goes to the LP's rank. Requires: run() has
    // returned.
    void end(VirtualTime end_time) {
        for (const auto& output : outputs_) output->finish();
        MeasureSums measures(plan_.setup.measures, plan_.measure_times);
        for (std::uint32_t lp = 0; lp < plan_.setup.lps; ++lp) {
            const Partition::Owner owner =
                plan_.partition.first_owner(plan_.partition.position(lp).group);
            workers_[owner.rank * machine_.workers + owner.worker]->executor().run_on_end(
                ranks_[owner.rank]->world().lp(lp), end_time, measures);
        }
        for (const auto& tables : tables_) tables->finish();
    }

    const WindowSums& sums() const { return ranks_[0]->rounds().result(); }
    bool network_is_idle() const { return network_.idle(); }
    std::uint64_t steps() const { return steps_; }
    // Number of steps in which the result of the last reduction required that windows and
    // reductions overlap.
    std::uint64_t steps_with_overlap() const { return steps_with_overlap_; }
    void stop_after(std::uint64_t steps) { stop_after_ = steps; }

    std::string digest() const {
        Digest sum;
        for (const auto& worker : workers_) add_digest(worker->executor().groups(), sum);
        return sum.hex();
    }
    Counters counters() const {
        Counters sum;
        for (const auto& worker : workers_) sum.add(worker->executor().counters());
        return sum;
    }

  private:
    static constexpr std::uint64_t steps_max = 5'000'000;
    static constexpr std::uint64_t steps_between_walks = 509;

    bool finished() const {
        return std::all_of(workers_.begin(), workers_.end(),
                           [](const auto& worker) { return worker->finished(); });
    }

    void set_up(std::uint32_t rank) {
        const auto first = workers_.begin() + rank * machine_.workers;
        for (auto worker = first; worker < first + machine_.workers; ++worker) {
            (*worker)->executor().adopt_thread();
            (*worker)->executor().set_up();
        }
        for (auto worker = first; worker < first + machine_.workers; ++worker) (*worker)->start();
    }

    // One turn of some worker, then possibly a tick of the network. Sometimes one worker gets all
    // turns for a while, as if the others were descheduled.
    void step() {
        if (++steps_ > steps_max) throw std::runtime_error("the run does not end");
        if (steps_ == stop_after_) stop_signal_ = 15;
        if (favoured_turns_ > 0) {
            --favoured_turns_;
        } else {
            favoured_ = dice_.below(workers_.size());
            if (dice_.chance(machine_.laziness)) favoured_turns_ = dice_.below(20);
        }
        WindowWorker& worker = *workers_[favoured_];
        const std::uint64_t& executed = worker.executor().counters()[Counter::executed_events];
        const std::uint64_t before = executed;
        if (!worker.finished()) worker.turn(now_);
        now_ += step_takes_;
        if (favoured_ == 0) now_ += (executed - before) * event_takes_;
        if (steps_ % steps_between_walks == 0)
            for (const auto& one : workers_) one->executor().validate();
        steps_with_overlap_ += sums().overlap > 0;
        if (dice_.chance(0.7)) network_.tick();
    }

    SteppedRun::Machine machine_;
    Dice dice_;
    FakeOs os_;
    Config config_;
    RunPlan plan_;
    MemorySource memory_;
    LiveProgress progress_;
    std::atomic<int> stop_signal_{0};
    SingleRank single_rank_;
    InProcessNetwork network_;
    std::vector<std::unique_ptr<CsvTables>> tables_;
    std::vector<std::unique_ptr<OutputWriter>> outputs_;
    std::vector<std::unique_ptr<WindowRank>> ranks_;
    std::vector<std::unique_ptr<WindowWorker>> workers_;
    // The clock of the workers. The size of the overlap of windows and reductions depends on the
    // times that the first worker measures with this clock.
    static constexpr std::chrono::microseconds event_takes_{5000};
    const std::chrono::microseconds step_takes_;
    WindowWorker::Clock::time_point now_{std::chrono::seconds(1)};
    std::uint64_t steps_ = 0;
    std::uint64_t steps_with_overlap_ = 0;
    std::uint64_t stop_after_ = 0;  // 0: never
    std::size_t favoured_ = 0;
    std::size_t favoured_turns_ = 0;
};

SteppedCase draw_case(Dice& dice) {
    SteppedCase drawn = draw_stepped_case(dice);
    drawn.shape.can_end_after = 0;
    const VirtualTime lookaheads[] = {0.25, 0.3, 2, 7};
    if (drawn.shape.lookahead == 0) drawn.shape.lookahead = lookaheads[dice.below(4)];
    drawn.config.engine = EngineKind::conservative;
    return drawn;
}

struct Sums {
    Counters counters;
    std::uint64_t steps_with_overlap = 0;
};

void compare_with_sequential(std::uint64_t seed, Sums& sums) {
    Dice dice(seed);
    const SteppedCase drawn = draw_case(dice);
    INFO("replay with NUMAWARP_TEST_SEED=" << seed);
    INFO(drawn.shape.describe());
    INFO(drawn.describe());
    const Outcome reference = sequential_outcome(drawn);

    RandomModel model(drawn.shape);
    const Setup setup = model.setup();
    std::vector<TemporaryFolder> folders(drawn.machine.ranks);
    SteppedWindows run(setup, drawn.config, drawn.machine, seed, folders);
    run.run();
    CHECK(run.network_is_idle());
    CHECK(run.digest() == reference.digest);
    CHECK(run.counters()[Counter::committed_events] == reference.committed_events);
    CHECK(run.sums().executed == reference.committed_events);
    const bool until = reference.reason == EndReason::until;
    CHECK(run.sums().dropped == until);
    if (!until && drawn.shape.until == time_infinity)
        CHECK(run.sums().last_time == reference.end_time);
    CHECK(model.log().events == reference.on_commit_events);
    CHECK(model.log().sum == reference.on_commit_sum);
    run.end(reference.end_time);
    check_rows(folders, reference);
    sums.counters.add(run.counters());
    sums.steps_with_overlap += run.steps_with_overlap();
}

void compare_cases(std::uint64_t first_seed, std::size_t cases) {
    Sums sums;
    if (!compare_all(first_seed, cases,
                     [&](std::uint64_t seed) { compare_with_sequential(seed, sums); }))
        return;

    // The cases must have exercised their subject.
    REQUIRE(sums.steps_with_overlap > 0);
    REQUIRE(sums.counters[Counter::events_sent] > 0);
    REQUIRE(sums.counters[Counter::events_crossed] > 0);
    REQUIRE(sums.counters[Counter::output_rows] > 0);
}

TEST_CASE("conservative ranks and workers in any order of turns give the sequential result") {
    compare_cases(1, test::effort(1000, 20));
}

TEST_CASE("a stopped conservative run has executed exactly the events before its end") {
    std::size_t stopped = 0;
    for (std::uint64_t seed = 1; seed <= test::effort(200, 10); ++seed) {
        Dice dice(seed);
        SteppedCase drawn = draw_case(dice);
        drawn.shape.until = time_infinity;
        INFO("seed " << seed << "; " << drawn.shape.describe());
        INFO(drawn.describe());
        std::string digest;
        std::uint64_t committed = 0;
        {
            RandomModel model(drawn.shape);
            const Setup setup = model.setup();
            SteppedWindows run(setup, drawn.config, drawn.machine, seed);
            run.stop_after(1 + dice.below(2000));
            run.run();
            CHECK(run.network_is_idle());
            if (run.sums().earliest == time_infinity) continue;
            digest = run.digest();
            committed = run.counters()[Counter::committed_events];
            drawn.config.until = run.sums().earliest;
        }
        ++stopped;
        const Outcome reference = sequential_outcome(drawn);
        CHECK(digest == reference.digest);
        CHECK(committed == reference.committed_events);
    }
    REQUIRE(stopped > 0);
}

// Each LP starts a chain of events, and the chains have different times. From time 3 on, each event
// fails.
struct FailingLp final : LogicalProcess {
    explicit FailingLp(LpId id) : own(index(id)) {}
    void on_start(Context& context) override {
        context.schedule(LpId{(own + 1) % context.lps()}, 1 + (own * 7 % 16) / 32.0, 0);
    }
    void on_event(Context& context, const Event&) override {
        if (context.now() >= 3) throw std::runtime_error("the model's own words");
        context.schedule(LpId{(own + 5) % context.lps()}, 1, 0);
    }
    std::uint32_t own;
};

TEST_CASE("if several ranks fail, the first failure in the order of events is reported") {
    const Setup setup{.lps = 16, .until = 100, .lookahead = 1, .process = process<FailingLp>()};
    for (std::uint64_t seed = 1; seed <= test::effort(100); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        SteppedCase drawn = draw_case(dice);
        drawn.machine.ranks = static_cast<std::uint32_t>(2 + dice.below(3));
        drawn.config.lps_per_group = 1;
        drawn.config.rollback.reset();
        SteppedWindows run(setup, drawn.config, drawn.machine, seed);
        std::string words;
        try {
            run.run();
        } catch (const ModelError& error) {
            words = error.what();
        }
        // The chain that LP 0 starts has events at LPs 1, 6 and 11, at the times 1, 2 and 3. This
        // chain fails first.
        CHECK(words.find("LP 11 at time 3") == 0);
        CHECK(words.find("the model's own words") != std::string::npos);
        CHECK(run.network_is_idle());
    }
}

TEST_CASE("the same seed gives the same conservative schedule in each step") {
    Dice dice(7);
    SteppedCase drawn = draw_case(dice);
    drawn.machine.ranks = 3;
    drawn.machine.workers = 2;
    std::vector<std::uint64_t> facts[2];
    for (auto& fact : facts) {
        RandomModel model(drawn.shape);
        const Setup setup = model.setup();
        SteppedWindows run(setup, drawn.config, drawn.machine, 7);
        run.run();
        const Counters counters = run.counters();
        fact = {run.steps(), counters[Counter::executed_events], counters[Counter::batches_sent],
                counters[Counter::gvt_rounds], run.steps_with_overlap()};
    }
    CHECK(facts[0] == facts[1]);
}

TEST_CASE(
    "nightly: conservative ranks and workers in any order of turns give the sequential result",
    "[.nightly]") {
    compare_cases(nightly_seed(), nightly_cases(5000));
}

}  // namespace
}  // namespace nw::test
