// SPDX-License-Identifier: Apache-2.0
// Goal: a run ends at the right event. With can_end(), a run on any engine ends exactly after the
// event at which the last LP allows the end. After a signal, a run ends soon, and the committed
// events are a prefix of the events of the sequential run.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "tests/engine/engines.hpp"
#include "tests/engine/outcome.hpp"
#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

RandomShape ending_shape(StateKind state) {
    RandomShape shape;
    shape.state = state;
    shape.lps = 12;
    shape.fuel = 1500;
    shape.can_end_after = 40;
    shape.zero_delay = 0.2;
    shape.to_self = 0.2;
    shape.to_neighbor = 0.3;
    return shape;
}

TEST_CASE("can_end() ends a run after the same event for every GVT interval") {
    for (const StateKind state : {StateKind::containers, StateKind::small_plain}) {
        const RandomShape shape = ending_shape(state);
        const Outcome expected = run_random_model(shape, wild_config(EngineKind::sequential));
        REQUIRE(static_cast<int>(expected.reason) == static_cast<int>(EndReason::all_can_end));
        REQUIRE(expected.committed_events < std::uint64_t{shape.fuel} * shape.lps);
        for (const double interval : {0.02, 0.3, 4.0}) {
            for (const std::uint32_t workers : {1u, 2u, 3u}) {
                for (const WindowMode mode : {WindowMode::off, WindowMode::fixed}) {
                    INFO("GVT every " << interval << " ms, workers " << workers << ", window "
                                      << static_cast<int>(mode));
                    Config config = wild_config(EngineKind::timewarp);
                    config.gvt_interval_ms = interval;
                    config.gvt_interval_events = 0;
                    config.workers = workers;
                    config.window_mode = mode;
                    config.window = 0.5;
                    const Outcome outcome = run_random_model(shape, config);
                    CHECK(outcome.digest == expected.digest);
                    CHECK(outcome.end_time == expected.end_time);
                    CHECK(outcome.committed_events == expected.committed_events);
                    CHECK((outcome.events_file == expected.events_file));
                    CHECK((outcome.states_file == expected.states_file));
                }
            }
        }
    }
}

// A single worker detects the end when it executes the last event (decision 0005).
TEST_CASE(
    "one worker executes a model with can_end() irrevocably and executes no event after the end") {
    for (const bool keeps : {false, true}) {
        INFO("--keep-safe-events " << keeps);
        RandomShape shape = ending_shape(StateKind::small_plain);
        shape.commits = false;
        RandomModel model(shape);
        Config config = wild_config(EngineKind::timewarp);
        config.workers = 1;
        config.keep_safe_events = keeps;
        config.window_mode = WindowMode::off;
        const RunResult result = run_model(model, config);
        CHECK(static_cast<int>(result.reason) == static_cast<int>(EndReason::all_can_end));
        const std::uint64_t committed = result.totals[Counter::committed_events];
        CHECK(result.totals[Counter::safe_events] == (keeps ? 0 : committed));
        if (!keeps) CHECK(result.totals[Counter::executed_events] == committed);
    }
}

// An LP whose destructor takes longer than the rest of the run. The time of the destructor belongs
// neither to the set-up nor to the event loop.
class Lingering final : public LogicalProcess {
  public:
    Lingering(LpId, std::chrono::steady_clock::time_point* first) : first_(first) {}
    ~Lingering() override { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context&, const Event&) override { *first_ = std::chrono::steady_clock::now(); }

  private:
    std::chrono::steady_clock::time_point* first_;
};

class LingeringModel final : public Model {
  public:
    LingeringModel() : Model("lingering", "") {}
    Setup setup() override {
        return {.lps = 1, .until = 2, .lookahead = 1, .process = process<Lingering>(&first)};
    }
    std::chrono::steady_clock::time_point first{};
};

TEST_CASE("the set-up time contains only the work before the first event") {
    for (const EngineKind engine :
         {EngineKind::sequential, EngineKind::conservative, EngineKind::timewarp}) {
        INFO("engine " << static_cast<int>(engine));
        LingeringModel model;
        const Setup setup = model.setup();
        Config config;
        config.engine = engine;
        config.workers = 1;
        LiveProgress progress;
        const std::atomic<int> no_signal{0};
        const auto start = std::chrono::steady_clock::now();
        const RunResult result = simulate(model, setup, config, progress, no_signal);
        CHECK(result.setup_seconds > 0);
        CHECK(result.setup_seconds <= std::chrono::duration<double>(model.first - start).count());
    }
}

TEST_CASE("a run ends without events if all LPs can end at the start") {
    RandomShape shape = ending_shape(StateKind::small_plain);
    shape.can_end_after = 1;
    RandomModel model(shape);
    Setup setup = model.setup();
    class Content final : public LogicalProcess {
      public:
        explicit Content(LpId) {}
        void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
        void on_event(Context& context, const Event&) override {
            context.schedule(context.self(), 1, 0);
        }
        bool can_end() const override { return true; }
    };
    setup.process = process<Content>();
    for (const EngineKind engine : {EngineKind::sequential, EngineKind::timewarp}) {
        LiveProgress progress;
        const std::atomic<int> stop_signal{0};
        const RunResult result = simulate(model, setup, wild_config(engine), progress, stop_signal);
        CHECK(static_cast<int>(result.reason) == static_cast<int>(EndReason::all_can_end));
        CHECK(result.totals[Counter::committed_events] == 0);
        CHECK(result.end_time == 0);
    }
}

// --- Interrupted ---------------------------------------------------------------------------------

std::atomic<int> pressed{0};

// Each LP sends to itself and to others without end. After time 500, LP 3 sets the signal, as
// Ctrl-C does.
class EndlessProcess : public LogicalProcess {
  public:
    static constexpr double lookahead = 0.25;

    explicit EndlessProcess(LpId) {}
    void on_start(Context& context) override { context.schedule(context.self(), 0.5, 0); }
    void on_event(Context& context, const Event& event) override {
        if (context.self() == LpId{3} && context.now() > 500) pressed = SIGINT;
        Random& random = context.random();
        if (event.type() == 0)
            context.schedule(context.self(), 0.25 + random.exponential(0.5), 0, random.bits());
        const LpId other{static_cast<std::uint32_t>(random.below(context.lps()))};
        if (event.type() == 0) context.schedule(other, 0.25 + random.uniform(), 1, random.bits());
    }
};

// An EndlessProcess with an end condition that is never met.
class UnwillingProcess final : public EndlessProcess {
  public:
    using EndlessProcess::EndlessProcess;
    bool can_end() const override { return false; }
};

// All events are at integer times, with many events at each of these times.
class StepProcess final : public LogicalProcess {
  public:
    static constexpr double lookahead = 0;

    explicit StepProcess(LpId) {}
    void on_start(Context& context) override {
        for (int i = 0; i < 100; ++i) context.schedule(context.self(), 1, 0);
    }
    void on_event(Context& context, const Event&) override {
        if (context.self() == LpId{3} && context.now() > 20) pressed = SIGINT;
        const LpId other{static_cast<std::uint32_t>(context.random().below(context.lps()))};
        context.schedule(other, 1, 0);
    }
};

template <class Process>
class EndlessModel final : public Model {
  public:
    EndlessModel() : Model("endless", "until somebody stops it") {}
    Setup setup() override {
        Setup setup;
        setup.lps = 16;
        setup.lookahead = Process::lookahead;
        setup.payload_bytes_max = 8;
        setup.process = process<Process>();
        return setup;
    }
};

// Checks that the run stops at the signal, and that its events are the events of a sequential run
// up to the same end time. Returns the number of committed events.
template <class Process>
std::uint64_t check_interrupted(Config config) {
    INFO(name_of(config.engine) << ", workers " << config.workers);
    EndlessModel<Process> model;
    pressed = 0;
    const RunResult result = run_model(model, config, pressed);
    CHECK(static_cast<int>(result.reason) == static_cast<int>(EndReason::interrupted));
    CHECK(result.signal == SIGINT);
    REQUIRE(std::isfinite(result.end_time));

    config = wild_config(EngineKind::sequential);
    config.until = result.end_time;
    const std::atomic<int> nobody_presses{0};
    const RunResult prefix = run_model(model, config, nobody_presses);
    CHECK(result.digest.hex() == prefix.digest.hex());
    CHECK(result.totals[Counter::committed_events] == prefix.totals[Counter::committed_events]);
    return result.totals[Counter::committed_events];
}

TEST_CASE("a signal ends a run, and the committed events are a prefix of the sequential run") {
    for (const EngineKind engine : all_engines)
        CHECK(check_interrupted<EndlessProcess>(wild_config(engine)) > 0);
    for (const std::uint32_t workers : {1u, 2u}) {
        Config config = wild_config(EngineKind::timewarp);
        config.workers = workers;
        check_interrupted<StepProcess>(config);
    }
    check_interrupted<UnwillingProcess>(wild_config(EngineKind::sequential));
    for (const std::uint32_t workers : {1u, 2u}) {
        Config config = wild_config(EngineKind::timewarp);
        config.workers = workers;
        // With two workers, the first commit is late. An event that was executed speculatively may
        // set the signal before this commit.
        const std::uint64_t committed = check_interrupted<UnwillingProcess>(config);
        CHECK((committed > 0 || workers > 1));
    }
}

// At each integer time, there is a chain of events with zero delays: between LPs if there is no
// lookahead, otherwise from each LP to itself.
template <bool between_lps>
class WaveProcess final : public LogicalProcess {
  public:
    static constexpr double lookahead = between_lps ? 0 : 1;

    explicit WaveProcess(LpId) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event& event) override {
        const auto hop = event.type();
        if (context.self() == LpId{3} && context.now() > 20 && hop == 2) pressed = SIGINT;
        const auto place = static_cast<std::uint32_t>(context.random().below(context.lps()));
        if (hop == hops)
            context.schedule(LpId{place}, 1, 0);
        else
            context.schedule(between_lps ? LpId{place} : context.self(), 0,
                             static_cast<EventType>(hop + 1));
    }

  private:
    static constexpr EventType hops = 4;
};

TEST_CASE("a signal during events of equal time ends the run between two times") {
    for (int attempt = 0; attempt < 5; ++attempt) {
        for (const EngineKind engine : all_engines) {
            for (const std::uint32_t workers : {1u, 2u, 3u}) {
                Config config = wild_config(engine);
                if (engine != EngineKind::sequential) config.workers = workers;
                config.window_mode = attempt % 2 == 0 ? WindowMode::automatic : WindowMode::off;
                check_interrupted<WaveProcess<false>>(config);
                if (engine != EngineKind::conservative)
                    check_interrupted<WaveProcess<true>>(config);
            }
        }
    }
}

// Each LP sends only to itself.
class LonelyProcess final : public LogicalProcess {
  public:
    static constexpr double lookahead = 1e300;

    explicit LonelyProcess(LpId) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        if (context.self() == LpId{3} && context.now() > 20) pressed = SIGINT;
        context.schedule(context.self(), 1, 0);
    }
};

TEST_CASE("a signal ends a run soon even if the lookahead is very large") {
    for (const EngineKind engine : all_engines) {
        for (const std::uint32_t workers : {1u, 2u}) {
            Config config = wild_config(engine);
            if (engine != EngineKind::sequential) config.workers = workers;
            config.until = 1e6;
            check_interrupted<LonelyProcess>(config);
        }
    }
}

// An endless chain of zero delays at time 1.
template <bool with_lookahead>
class ChainProcess final : public LogicalProcess {
  public:
    static constexpr double lookahead = with_lookahead ? 1 : 0;

    explicit ChainProcess(LpId) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        if (++links_ == 1000) pressed = SIGTERM;
        context.schedule(context.self(), 0, 0);
    }

  private:
    std::uint32_t links_ = 0;
};

TEST_CASE("a signal ends an endless chain of zero delays between LPs") {
    for (const std::uint32_t workers : {1u, 2u, 3u}) {
        for (const bool keeps : {false, true}) {
            INFO("workers " << workers << ", --keep-safe-events " << keeps);
            EndlessModel<ChainProcess<false>> model;
            Config config = wild_config(EngineKind::timewarp);
            config.workers = workers;
            config.keep_safe_events = keeps;
            pressed = 0;
            const RunResult result = run_model(model, config, pressed);
            CHECK(static_cast<int>(result.reason) == static_cast<int>(EndReason::interrupted));
            CHECK(result.end_time == 1);
            const auto says_so = [](const std::string& notice) {
                return notice.find("before all events of one virtual time") != std::string::npos;
            };
            // If the history of all events is kept, the run is rolled back to the start of time 1.
            CHECK(std::count_if(result.notices.begin(), result.notices.end(), says_so) ==
                  (keeps ? 0 : 1));
        }
    }
}

TEST_CASE("a signal ends an endless chain of zero delays that an LP sends to itself") {
    for (const EngineKind engine : all_engines) {
        INFO(name_of(engine));
        EndlessModel<ChainProcess<true>> model;
        pressed = 0;
        const RunResult result = run_model(model, wild_config(engine), pressed);
        CHECK(static_cast<int>(result.reason) == static_cast<int>(EndReason::interrupted));
        CHECK(result.end_time == 1);
    }
}

TEST_CASE("a signal ends several ranks at the same time") {
    EndlessModel<EndlessProcess> model;
    const Setup setup = model.setup();
    Config config = wild_config(EngineKind::timewarp);
    config.state_saving_interval = 2;
    config.window_mode = WindowMode::fixed;
    config.window = 5;
    std::string digest;
    {
        SteppedRun run(setup, config, {.ranks = 3}, 11);
        run.run_until([&] { return run.gvt() > 50; });
        run.stop_signal() = SIGTERM;
        run.run();
        CHECK(static_cast<int>(run.reason()) == static_cast<int>(EndReason::interrupted));
        CHECK(run.balance() == 0);
        CHECK(run.network_is_idle());
        digest = run.digest();
        config.until = run.end_time();
    }
    REQUIRE(*config.until >= 50);
    config.engine = EngineKind::sequential;
    CHECK(run_model(model, config, std::atomic<int>{0}).digest.hex() == digest);
}

}  // namespace
}  // namespace nw::test
