// SPDX-License-Identifier: Apache-2.0
// Tests the text of the progress line, and when a log gets such a line. The tests need no clock and
// no terminal.
#include <string>
#include <vector>

#include "app/progress.hpp"
#include "tests/support/catch.hpp"

using nw::LogPace;
using nw::ProgressMeter;

namespace {

// Adds one sample per second. Until second s, s million events were executed, and 90 % of these
// events were committed.
void run_steadily(ProgressMeter& meter, int from_second, int to_second, double from_gvt,
                  double gvt_a_second) {
    for (int second = from_second; second <= to_second; ++second) {
        const auto events = static_cast<std::uint64_t>(second) * 1'000'000;
        meter.add({second * 1.0, from_gvt + (second - from_second) * gvt_a_second, events * 9 / 10,
                   events});
    }
}

}  // namespace

TEST_CASE("progress: the line contains virtual time and share and speed and efficiency and ETA") {
    ProgressMeter meter(1000);
    CHECK(meter.line() == "setting up");
    meter.add({0, 0, 0, 0});
    CHECK(meter.line() == "at 0/1000 (0.0 %)");
    run_steadily(meter, 1, 60, 10, 10);
    CHECK(meter.line() == "at 600/1000 (60.0 %) | 900 k events/s | efficiency 90 % | ETA 40 s");
}

TEST_CASE(
    "progress: the speed is from the last seconds and the ETA is from the last quarter of the "
    "run") {
    ProgressMeter meter(1000);
    run_steadily(meter, 0, 40, 0, 10);
    for (int second = 1; second <= 10; ++second)
        meter.add({40.0 + second, 400.0 + second, 36'000'000u + second * 100'000u,
                   40'000'000u + second * 200'000u});
    // The last quarter of the run began at 37.5 s, and the sample at 37 s is the last one before
    // this time. So the remaining time is computed from 3 fast and 10 slow seconds.
    CHECK(meter.line() ==
          "at 410/1000 (41.0 %) | 100 k events/s | efficiency 50 % | ETA 3 min 12 s");
}

TEST_CASE("progress: in a long run, the ETA is computed from the speed of the last quarter") {
    ProgressMeter meter(1e6);
    run_steadily(meter, 0, 3600, 0, 100);
    for (int second = 1; second <= 300; ++second)
        meter.add({3600.0 + second, 360'000.0 + second * 10, 3'240'000'000u, 3'600'000'000u});
    CHECK(meter.line() == "at 363000/1e+06 (36.3 %) | 0 events/s | ETA 17 h 41 min");
}

TEST_CASE("progress: a restarted run begins at its GVT without a speed") {
    ProgressMeter meter(1000);
    meter.add({7, 800, 0, 0});
    CHECK(meter.line() == "at 800/1000 (80.0 %)");
    meter.add({9, 802, 2000, 2000});
    CHECK(meter.line() ==
          "at 802/1000 (80.2 %) | 1.00 k events/s | efficiency 100 % | ETA 3 min 18 s");
}

TEST_CASE("progress: without an end there is no share and no ETA") {
    ProgressMeter meter(nw::time_infinity);
    meter.add({0, 0, 0, 0});
    CHECK(meter.line() == "at 0");
    meter.add({2, 5, 200, 200});
    CHECK(meter.line() == "at 5 | 100 events/s | efficiency 100 %");
    CHECK(meter.line(20) == "at 5 | 100 events/s");
    CHECK(meter.line(7) == "at 5");
}

TEST_CASE("progress: there is no ETA in the first second and while GVT does not advance") {
    ProgressMeter meter(10);
    meter.add({0, 0, 0, 0});
    meter.add({0.6, 1, 100, 100});
    CHECK(meter.line() == "at 1/10 (10.0 %) | 167 events/s | efficiency 100 %");
    for (int second = 1; second <= 20; ++second) meter.add({1.0 + second, 1, 100, 100});
    CHECK(meter.line() == "at 1/10 (10.0 %) | 0 events/s");
}

TEST_CASE(
    "progress: the share is below 100 % until GVT reaches the end; then the line contains the word "
    "finishing") {
    ProgressMeter meter(1000);
    meter.add({0, 0, 0, 0});
    meter.add({100, 999.99, 0, 0});
    CHECK(meter.line() == "at 999.99/1000 (99.9 %) | 0 events/s | ETA under 1 s");
    meter.add({101, 1000, 0, 0});
    CHECK(meter.line() == "at 1000/1000 (100.0 %) | 0 events/s | finishing");
}

TEST_CASE("progress: a narrow terminal gets fewer fields and only whole words") {
    ProgressMeter meter(1000);
    run_steadily(meter, 0, 60, 0, 10);
    const std::vector<std::string> lines = {
        "at 600/1000 (60.0 %) | 900 k events/s | efficiency 90 % | ETA 40 s",
        "at 600/1000 (60.0 %) | 900 k events/s | ETA 40 s", "at 600/1000 (60.0 %) | ETA 40 s",
        "60.0 % | ETA 40 s", "60.0 %"};
    for (std::size_t columns = 200; columns >= lines.back().size(); --columns) {
        std::size_t longest = 0;
        while (lines[longest].size() > columns) ++longest;
        CHECK(meter.line(columns) == lines[longest]);
    }
    CHECK(meter.line(3) == "at ");
    CHECK(meter.line(0).empty());
}

TEST_CASE("progress: the longest numbers fit into 80 columns") {
    ProgressMeter meter(1.23456e+123);
    meter.add({0, 0, 0, 0});
    meter.add({100, 9.87654e+101, 99'900'000'000u, 99'900'000'000u});
    CHECK(meter.line(80).size() <= 80);
}

TEST_CASE(
    "progress: a log gets a line after 10 s and then every minute and one after a long pause") {
    LogPace pace(10);
    std::vector<int> lines;
    for (int tenth = 0; tenth < 4000; ++tenth)
        if (pace.is_due(tenth / 10.0)) lines.push_back(tenth / 10);
    CHECK(lines == std::vector<int>{10, 70, 130, 190, 250, 310, 370});
    CHECK(pace.is_due(4000));
    CHECK_FALSE(pace.is_due(4001));
}
