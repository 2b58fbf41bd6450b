// SPDX-License-Identifier: Apache-2.0
// Goal: a handler that never returns only because its events came in the wrong order costs time and
// nothing else. If a handler never returns in order, warnings name it, and --handler-timeout ends
// it. A handler that only takes long is executed at most once more than necessary.
//
// Method: the model of gap_model.hpp, with a handler that loops when a number is missing, on real
// threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "tests/engine/engines.hpp"
#include "tests/engine/gap_model.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

Config looping_config(EngineKind engine) {
    Config config = wild_config(engine);
    config.watchdog_seconds = 0;
    return config;
}

TEST_CASE(
    "a handler that loops in a mis-speculated state is interrupted and executed again in order") {
    GapModel reference({});
    const std::string expected =
        run_model(reference, looping_config(EngineKind::sequential)).digest.hex();
    for (const Fault fault :
         {Fault::endless_loop, Fault::endless_allocation, Fault::endless_sleep}) {
        INFO(name_of(fault));
        std::uint64_t interrupted = 0;
        // How far the threads drift apart depends on the machine. Repeat until a handler was
        // interrupted.
        for (int attempt = 0; attempt < 50 && interrupted == 0; ++attempt) {
            GapModel model({.fault = fault, .slow_half = true});
            const RunResult result = run_model(model, looping_config(EngineKind::timewarp));
            REQUIRE(result.digest.hex() == expected);
            interrupted += result.totals[Counter::interrupted_handlers];
        }
        CHECK(interrupted > 0);
    }
}

TEST_CASE(
    "a handler that loops in order is reported repeatedly and ended after --handler-timeout") {
    for (const EngineKind engine : all_engines) {
        INFO(name_of(engine));
        GapModel model({.fault = Fault::endless_loop, .fault_at = 50});
        Config config = looping_config(engine);
        config.watchdog_seconds = 0.1;
        config.handler_timeout_seconds = 1;
        const Setup setup = model.setup();
        std::mutex mutex;
        std::vector<std::string> lines;
        LiveProgress progress;
        progress.warn = [&](const std::string& line) {
            const std::lock_guard lock(mutex);
            lines.push_back(line);
        };
        std::string error;
        try {
            simulate(model, setup, config, progress, std::atomic<int>{0});
        } catch (const ModelError& failure) {
            error = failure.what();
        }
        CHECK(error ==
              "LP 7 at time 50.5, event of type 1 from LP 1: it has not returned within "
              "--handler-timeout");
        const auto names_it = [](const std::string& line) {
            return line.find(
                       "LP 7 at time 50.5, event of type 1 from LP 1: the handler has not "
                       "returned for") == 0;
        };
        CHECK(std::count_if(lines.begin(), lines.end(), names_it) >= 2);
    }
}

// At each even time, the handler of one LP takes 60 ms. This is long in comparison with all other
// handlers.
class SlowProcess final : public LogicalProcess {
  public:
    SlowProcess(LpId self, std::atomic<std::uint64_t>* calls)
        : calls_(*calls), self_(index(self)) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        if (static_cast<std::uint32_t>(context.now()) % 16 == self_ * 2) work_long();
        context.schedule(context.self(), 1, 0);
    }

  private:
    void work_long() {
        calls_.fetch_add(1, std::memory_order_relaxed);
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(60);
        while (std::chrono::steady_clock::now() < end) {
        }
    }

    std::atomic<std::uint64_t>& calls_;
    std::uint32_t self_;
};

class SlowModel final : public Model {
  public:
    SlowModel() : Model("slow", "some handler calls take long") {}
    Setup setup() override {
        return {.lps = 8, .until = 32.5, .process = process<SlowProcess>(&calls)};
    }
    std::atomic<std::uint64_t> calls{0};
};

TEST_CASE("a handler that takes long is executed at most one additional time") {
    SlowModel model;
    const RunResult result = run_model(model, looping_config(EngineKind::timewarp));
    constexpr std::uint64_t long_events = 2 * 8;
    CHECK(result.totals[Counter::rolled_back_events] >=
          result.totals[Counter::interrupted_handlers]);
    CHECK(model.calls <= 2 * long_events);
    SlowModel again;
    CHECK(run_model(again, looping_config(EngineKind::sequential)).digest.hex() ==
          result.digest.hex());
    CHECK(again.calls == long_events);
}

// LP 1 is idle while LP 0 executes 250 events of 2 ms. Then LP 0 sends `take` to LP 1. The handler
// of `take` waits for `give`. LP 0 sends `give` later in wall time, but for an earlier virtual
// time.
class LateProcess final : public LogicalProcess {
  public:
    LateProcess(LpId self, std::atomic<bool>* waited_long)
        : waited_long_(*waited_long), self_(index(self)) {}
    void on_start(Context& context) override {
        if (self_ == 0) context.schedule(context.self(), 1, step);
    }
    void on_event(Context& context, const Event& event) override {
        if (event.type() == give) given_ = true;
        if (event.type() == take) wait_until_given();
        if (event.type() != step) return;
        work(std::chrono::milliseconds(2));
        if (++steps_ == idle_steps) context.schedule(LpId{1}, 1000, take);
        if (steps_ == idle_steps + 100) context.schedule(LpId{1}, 10, give);
        if (steps_ < idle_steps + 150) context.schedule(context.self(), 1, step);
    }

  private:
    static constexpr EventType step = 0, take = 1, give = 2;
    static constexpr std::uint32_t idle_steps = 250;

    static void work(std::chrono::milliseconds time) {
        const auto end = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < end) {
        }
    }

    // Loops until `give` was executed. Without `give`, this loop would be endless, but the test
    // limits it to 8 s.
    void wait_until_given() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(8);
        const volatile bool& given = given_;
        while (!given) {
            if (std::chrono::steady_clock::now() < end) continue;
            waited_long_.store(true);
            return;
        }
    }

    std::atomic<bool>& waited_long_;
    std::uint32_t self_;
    std::uint32_t steps_ = 0;
    bool given_ = false;
};

class LateModel final : public Model {
  public:
    LateModel() : Model("late", "an endless loop in the first event of a worker that was idle") {}
    Setup setup() override {
        return {.lps = 2, .until = 2000, .process = process<LateProcess>(&waited_long)};
    }
    std::atomic<bool> waited_long = false;
};

TEST_CASE("an endless loop in a worker that was idle before is interrupted without a long wait") {
    LateModel reference;
    const std::string expected =
        run_model(reference, looping_config(EngineKind::sequential)).digest.hex();
    LateModel model;
    const RunResult result = run_model(model, looping_config(EngineKind::timewarp));
    CHECK(result.digest.hex() == expected);
    CHECK(result.totals[Counter::interrupted_handlers] > 0);
    CHECK_FALSE(model.waited_long);
}

}  // namespace
}  // namespace nw::test
