// SPDX-License-Identifier: Apache-2.0
// Goal: batches between ranks contain enough events even if all ranks send to all ranks. With 64
// ranks, a rank sends 1/63 of its events to each other rank. A rank that sends to at most four
// ranks sends a batch after 50 µs. With 63 other ranks, a batch would then contain only two events,
// so a batch with few events must wait longer.
//
// Method: 64 ranks of one worker each, in parallel. The test sets the machine's clock, so that a
// turn takes 13 µs. A quarter of the events goes to LPs drawn from all LPs.
#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

constexpr std::uint32_t ranks = 64;
constexpr std::uint32_t lps = ranks * 256;
constexpr std::uint32_t events_per_lp = 32;
constexpr double remote = 0.25;

struct Speaker final : LogicalProcess {
    explicit Speaker(LpId) {}
    void on_start(Context& context) override {
        for (std::uint32_t i = 0; i < events_per_lp; ++i) speak(context, context.self());
    }
    void on_event(Context& context, const Event&) override {
        const bool leaves = context.random().chance(remote);
        speak(context, leaves ? LpId{static_cast<std::uint32_t>(context.random().below(lps))}
                              : context.self());
    }
    static void speak(Context& context, LpId to) {
        context.schedule(to, 4 + context.random().exponential(1), 0);
    }
};

TEST_CASE("64 ranks that all send to each other put at least eight events into a batch") {
    Setup setup;
    setup.lps = lps;
    setup.until = 30;
    setup.lookahead = 4;
    setup.process = process<Speaker>();
    Config config;
    config.state_saving_interval = 1;
    config.gvt_interval_ms = 1;
    config.gvt_interval_events = 0;
    config.rebind_seconds = 0;
    SteppedRun run(setup, config, {.ranks = ranks, .workers = 1}, 1);
    run.set_up();
    const Counters started = run.counters();
    std::chrono::microseconds now{0};
    while (!run.finished() && now < std::chrono::seconds(1)) {
        now += std::chrono::microseconds(13);
        for (std::size_t w = 0; w < ranks; ++w) run.turn(w, now);
    }
    REQUIRE(run.finished());
    CHECK(run.balance() == 0);
    const Counters counters = run.counters();
    REQUIRE(counters[Counter::committed_events] > 2 * lps * events_per_lp);
    const auto events =
        static_cast<double>(counters[Counter::events_sent] - started[Counter::events_sent]);
    REQUIRE(events > 0.8 * remote * static_cast<double>(counters[Counter::committed_events]));
    CHECK(events / static_cast<double>(counters[Counter::batches_sent]) >= 8);
}

}  // namespace
}  // namespace nw::test
