// SPDX-License-Identifier: Apache-2.0
// Tests the recorded course of a run.
#include "results/statistics/run_history.hpp"
#include "results/statistics/worker_figures.hpp"
#include "tests/support/catch.hpp"

using namespace nw;
using std::chrono::milliseconds;

TEST_CASE(
    "RunHistory: seconds count from the start of the event loop with one sample every 100 ms") {
    RunHistory history;
    const auto start = RunHistory::Clock::time_point() + std::chrono::hours(5);
    history.begin(start);
    for (int ms = 0; ms <= 1000; ms += 10)
        if (history.is_due(start + milliseconds(ms))) history.add(start + milliseconds(ms), {});
    REQUIRE(history.samples().size() == 11);
    CHECK(history.samples()[3].seconds == Approx(0.3));
}

TEST_CASE("RunHistory: a restarted run begins with the figures of the saved run") {
    RunHistory history;
    const auto start = RunHistory::Clock::time_point() + std::chrono::hours(5);
    history.begin(start, {.seconds = 100,
                          .gvt = 7,
                          .committed_events = 1000,
                          .executed_events = 1200,
                          .rolled_back_events = 150,
                          .gvt_rounds = 40});
    history.add(start + milliseconds(500), {.gvt = 8,
                                            .committed_events = 10,
                                            .executed_events = 12,
                                            .rolled_back_events = 1,
                                            .gvt_rounds = 2});
    REQUIRE(history.samples().size() == 2);
    CHECK(history.samples()[0].seconds == 100);
    CHECK(history.samples()[0].committed_events == 1000);
    const RunSample& second = history.samples()[1];
    CHECK(second.seconds == Approx(100.5));
    CHECK(second.gvt == 8);
    CHECK(second.committed_events == 1010);
    CHECK(second.executed_events == 1212);
    CHECK(second.rolled_back_events == 151);
    CHECK(second.gvt_rounds == 42);
}

TEST_CASE("RunHistory: samples of the saved run precede the samples of the restarted run") {
    SavedHistory earlier;
    {
        RunHistory history;
        const auto start = RunHistory::Clock::time_point();
        history.begin(start);
        for (int ms = 100; ms <= 150'000; ms += 100)
            if (history.is_due(start + milliseconds(ms))) history.add(start + milliseconds(ms), {});
        earlier = history.saved();
        REQUIRE(earlier.interval_seconds > 0.1);
    }
    RunHistory history;
    const auto start = RunHistory::Clock::time_point() + std::chrono::hours(5);
    history.begin(start, {.seconds = 151}, &earlier);
    CHECK(!history.is_due(start + milliseconds(100)));  // the earlier interval is kept
    history.add(start + milliseconds(500), {});
    REQUIRE(history.samples().size() == earlier.samples.size() + 2);
    CHECK(history.samples().front().seconds == 0);
    CHECK(history.samples().back().seconds == Approx(151.5));
}

TEST_CASE("end_history: the last sample has the latest memory and the latest window") {
    std::vector<RunSample> samples = {{0.1, 1, 10, 12, 1, 5, 4096, 2.0},
                                      {0.6, 5, 50, 60, 8, 9, 8192, 3.0}};
    RunSample last{0.5, 6, 60, 70, 10, 11};
    end_history(samples, last);
    REQUIRE(samples.size() == 2);
    CHECK(samples[1].seconds == 0.5);
    CHECK(samples[1].committed_events == 60);
    CHECK(samples[1].resident_bytes == 8192);
    CHECK(samples[1].window == 3.0);

    std::vector<RunSample> none;
    end_history(none, last);
    CHECK(none.size() == 1);
}

TEST_CASE("RollbackLengths: each length is counted in the bucket that bounds it") {
    for (const std::uint64_t events :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4}, std::uint64_t{5},
          std::uint64_t{1000}, std::uint64_t{0xffff'ffff}}) {
        RollbackLengths lengths;
        CHECK(lengths.rows().empty());
        lengths.count(events);
        const std::vector<RollbackLengths::Row> rows = lengths.rows();
        CHECK(rows.back().rollbacks == 1);
        CHECK(events <= rows.back().events_max);
        if (rows.size() > 1) CHECK(events > rows[rows.size() - 2].events_max);
    }
}

TEST_CASE("keep_worst: the LPs with most rollbacks are kept in order") {
    std::vector<RolledBackLp> spots;
    // LP i has i rolled-back events. Only LP 5 has 95 rolled-back events, as many as LP 95. The LPs
    // are added in a mixed order.
    for (std::uint32_t i = 0; i < 100; ++i) {
        const std::uint32_t lp = i * 37 % 100;
        keep_worst(spots, {lp == 5 ? 95u : lp, lp, 0, 0});
    }
    REQUIRE(spots.size() == 16);
    CHECK(spots.front().lp == 99);
    CHECK(spots[4].lp == 5);
    CHECK(spots[5].lp == 95);
    CHECK(spots.back().lp == 85);

    std::vector<RolledBackLp> none;
    keep_worst(none, {0, 7, 0, 0});
    CHECK(none.empty());
}
