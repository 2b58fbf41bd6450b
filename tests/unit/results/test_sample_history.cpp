// SPDX-License-Identifier: Apache-2.0
// Tests that a history has a limited number of evenly distributed samples, for runs of any length.
#include "results/statistics/sample_history.hpp"
#include "tests/support/catch.hpp"

using namespace nw;

namespace {

struct Sample {
    double seconds;
};
using History = SampleHistory<Sample>;

// Returns the history of a run that can add a sample every `tick` seconds.
History history_of(double run_seconds, double tick, double interval) {
    History history(interval);
    for (int i = 0; i * tick <= run_seconds; ++i)
        if (history.is_due(i * tick)) history.add({i * tick});
    return history;
}

}  // namespace

TEST_CASE("SampleHistory: a short run keeps one sample per interval including the start") {
    const History history = history_of(10, 0.125, 1);
    REQUIRE(history.samples().size() == 11);
    for (std::size_t i = 0; i < 11; ++i)
        CHECK(history.samples()[i].seconds == static_cast<double>(i));
}

TEST_CASE("SampleHistory: a long run keeps at most a thousand evenly distributed samples") {
    for (const double seconds : {999.0, 1000.0, 2500.0, 100'000.0}) {
        const History history = history_of(seconds, 0.5, 1);
        const auto& samples = history.samples();
        REQUIRE(samples.size() <= History::samples_max);
        REQUIRE(samples.size() >= History::samples_max / 2);
        CHECK(samples.front().seconds == 0);
        CHECK(samples.back().seconds > seconds - 2 * history.interval_seconds());
        for (std::size_t i = 1; i < samples.size(); ++i) {
            const double step = samples[i].seconds - samples[i - 1].seconds;
            REQUIRE(step >= history.interval_seconds() / 2);
            REQUIRE(step <= history.interval_seconds() * 1.5);
        }
    }
}
