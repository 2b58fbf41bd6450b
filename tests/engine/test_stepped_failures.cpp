// SPDX-License-Identifier: Apache-2.0
// Goal: a handler or can_end() that fails only because it was executed too early is undone, in
// every schedule of workers and ranks that a seed draws.
//
// Method: the model of gap_model.hpp in a stepped run (stepped_run.hpp), in one thread.
// test_failures.cpp uses real threads.
#include <cstdint>
#include <filesystem>
#include <iterator>
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

// A crash ends its event and not the batch: the events of the batch, with the one that crashed,
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
