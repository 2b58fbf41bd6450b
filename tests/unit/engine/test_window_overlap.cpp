// SPDX-License-Identifier: Apache-2.0
// The overlap of windows with their reductions. The clock is simulated: the test gives the times as
// arguments.
#include "engine/inorder/window_overlap.hpp"

#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

using std::chrono::microseconds;

// Returns the share of a window that is left to execute at the cut, after 100 windows. The
// execution of each window takes `window`. After that, the worker waits for the result; this takes
// `reduction`.
double share_of(microseconds window, microseconds reduction) {
    WindowOverlap overlap;
    WindowOverlap::Clock::time_point now{std::chrono::seconds(1)};
    for (int i = 0; i < 100; ++i) {
        now += window;
        overlap.on_cut(now);
        overlap.on_idle(now);
        now += reduction;
        overlap.on_idle(now);  // no effect: the worker is already idle
        overlap.on_result(now, 1);
    }
    return overlap.share();
}

TEST_CASE(
    "WindowOverlap: the part that is left to execute takes longer than the reduction, but at most "
    "half of a window") {
    CHECK(share_of(microseconds(10'000), microseconds(1'000)) == Approx(0.15));
    CHECK(share_of(microseconds(100'000), microseconds(1'000)) == Approx(0.015));
    CHECK(share_of(microseconds(1'000), microseconds(500)) == WindowOverlap::share_max);
}

TEST_CASE("WindowOverlap: there is no overlap if waiting costs less than additional reductions") {
    CHECK(share_of(microseconds(1'000), microseconds(900)) == 0);
    CHECK(share_of(microseconds(10), microseconds(2'000)) == 0);
    CHECK(share_of(microseconds(1'000), microseconds(20)) == 0);
    CHECK(WindowOverlap().share() == 0);
}

// With an overlap, results arrive before the rest of the window is executed, and at shorter
// intervals.
TEST_CASE(
    "WindowOverlap: the measured length of a window is the same with and without an overlap") {
    WindowOverlap overlap;
    WindowOverlap::Clock::time_point now{std::chrono::seconds(1)};
    for (int i = 0; i < 200; ++i) {
        now += microseconds(4'000);
        overlap.on_cut(now);
        now += microseconds(1'000);  // the worker executes
        overlap.on_result(now, 0.5);
    }
    CHECK(overlap.share() == Approx(0.15));
}

}  // namespace
}  // namespace nw::test
