// SPDX-License-Identifier: Apache-2.0
// Goal: a handler or can_end() that fails only because it was executed too early is undone, in
// every schedule of workers and ranks that is drawn from a seed.
//
// Method: the model of gap_model.hpp in a stepped run (stepped_run.hpp), in one thread.
// test_failures.cpp uses real threads.
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/engine/engines.hpp"
#include "tests/engine/gap_model.hpp"
#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/private_member.hpp"

namespace nw::test {

NW_TEST_OPEN(ThrottleOf, &Worker::throttle_);
NW_TEST_OPEN(QuotaOf, &Throttle::quota_);

namespace {

std::string sequential_digest(const GapPlan& plan) {
    GapModel model(plan);
    return run_model(model, wild_config(EngineKind::sequential)).digest.hex();
}

TEST_CASE("every kind of failure in a mis-speculated state is rolled back") {
    const std::string expected = sequential_digest({});
    for (const Fault fault : all_faults) {
        INFO(name_of(fault));
        std::uint64_t failed = 0;
        for (std::uint64_t seed = 1; seed <= effort(5); ++seed) {
            INFO("schedule " << seed);
            GapModel model({.fault = fault});
            const Setup setup = model.setup();
            Config config = wild_config(EngineKind::timewarp);
            config.state_saving_interval = 1 + static_cast<std::uint32_t>(seed % 3);
            SteppedRun run(setup, config, {.ranks = 1 + static_cast<std::uint32_t>(seed % 2)},
                           seed);
            REQUIRE_NOTHROW(run.run());
            CHECK(run.digest() == expected);
            failed += run.counters()[Counter::failed_speculations];
        }
        CHECK(failed > 0);
    }
}

// A crash ends its event and not the batch. All events of the batch, also the event that crashed,
// count against the quota that --memory-cap sets.
TEST_CASE("a batch in which a handler crashes spends the throttle's quota") {
    constexpr std::uint32_t quota = 1'000;
    GapModel model({.fault = Fault::null_pointer});
    const Setup setup = model.setup();
    SteppedRun run(setup, wild_config(EngineKind::timewarp), {}, 4);
    run.set_up();
    std::uint64_t crashes = 0, batches_that_went_on = 0;
    std::chrono::microseconds now{0};
    while (!run.finished()) {
        for (std::size_t w = 0; w < run.workers().size(); ++w) {
            Worker& worker = *run.workers()[w];
            std::uint32_t& left = (worker.*opened(ThrottleOf{})).*opened(QuotaOf{});
            const Counters before = worker.core().counters;
            left = quota;
            run.turn(w, now += std::chrono::microseconds(20));
            const Counters& after = worker.core().counters;
            const auto done = [&](Counter counter) { return after[counter] - before[counter]; };
            const bool is_new_quota = left == Throttle::unlimited;  // a new GVT was read
            if (done(Counter::failed_speculations) == 0 || is_new_quota) continue;
            ++crashes;
            CHECK(quota - left >= done(Counter::executed_events));
            if (done(Counter::executed_events) > done(Counter::failed_speculations))
                ++batches_that_went_on;
        }
    }
    CHECK(crashes > 0);
    CHECK(batches_that_went_on > 0);
}

std::size_t open_descriptors() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                      std::filesystem::directory_iterator()));
}

TEST_CASE("a failed handler leaves no open descriptor and does not change the reason of the end") {
    for (std::uint64_t seed = 1; seed <= effort(5); ++seed) {
        INFO("schedule " << seed);
        for (const Fault fault : {Fault::exception, Fault::open_and_crash, Fault::bad_payload}) {
            INFO(name_of(fault));
            const std::size_t descriptors = open_descriptors();
            GapModel model({.fault = fault});
            const Setup setup = model.setup();
            SteppedRun run(setup, wild_config(EngineKind::timewarp), {}, seed);
            run.run();
            CHECK(run.counters()[Counter::failed_speculations] > 0);
            CHECK(open_descriptors() == descriptors);
            CHECK(run.reason() == EndReason::until);
        }
    }
}

// Each LP of the second half gets an event at time 2 from an LP of the first half, which another
// worker executes. If the LP executes its own event at time 3 before the other event arrives, it
// schedules an event beyond the end of the run, and then fails if `fails` is true.
class HastyProcess final : public LogicalProcess {
  public:
    static constexpr std::uint32_t lps = 64;

    HastyProcess(LpId self, const bool* fails)
        : is_sender_(index(self) < lps / 2), fails_(*fails) {}
    void on_start(Context& context) override {
        context.schedule(context.self(), is_sender_ ? 1 : 3, own);
    }
    void on_event(Context& context, const Event& event) override {
        if (is_sender_) {
            context.schedule(LpId{index(context.self()) + lps / 2}, 1, awaited);
        } else if (event.type() == awaited) {
            has_awaited_ = true;
        } else if (!has_awaited_) {
            context.schedule(context.self(), 100, own);
            if (fails_) throw std::runtime_error("executed too early");
        }
    }

  private:
    static constexpr EventType own = 0, awaited = 1;
    bool is_sender_;
    bool fails_;
    bool has_awaited_ = false;
};

class HastyModel final : public Model {
  public:
    explicit HastyModel(bool fails) : Model("hasty", "schedules too early"), fails_(fails) {}
    Setup setup() override {
        Setup setup;
        setup.lps = HastyProcess::lps;
        setup.until = 10;
        setup.process = process<HastyProcess>(&fails_);
        return setup;
    }

  private:
    const bool fails_;
};

TEST_CASE(
    "events beyond the end that undone handlers have scheduled do not change the reason of the "
    "end") {
    const bool fails = GENERATE(false, true);
    std::uint64_t rolled_back = 0;
    for (std::uint64_t seed = 1; seed <= effort(20); ++seed) {
        INFO("schedule " << seed << ", fails " << fails);
        HastyModel model(fails);
        const Setup setup = model.setup();
        Config config = wild_config(EngineKind::timewarp);
        config.lps_per_group = 1;
        SteppedRun run(setup, config, {.ranks = 1 + static_cast<std::uint32_t>(seed % 2)}, seed);
        run.run();
        CHECK(run.reason() == EndReason::no_events);
        rolled_back += run.counters()[Counter::rolled_back_events];
    }
    CHECK(rolled_back > 0);
}

TEST_CASE("a failure of can_end() in a mis-speculated state is rolled back") {
    const std::string expected = sequential_digest({.hook = Hook::can_end});
    for (const Fault fault : {Fault::exception, Fault::null_pointer}) {
        INFO(name_of(fault));
        GapModel model({.fault = fault, .hook = Hook::can_end});
        const Setup setup = model.setup();
        SteppedRun run(setup, wild_config(EngineKind::timewarp), {}, 3);
        REQUIRE_NOTHROW(run.run());
        CHECK(run.digest() == expected);
        CHECK(run.counters()[Counter::failed_speculations] > 0);
    }
}

}  // namespace
}  // namespace nw::test
