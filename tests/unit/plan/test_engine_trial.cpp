// SPDX-License-Identifier: Apache-2.0
// Tests the trial of --engine auto. The test gives the times and the totals as arguments.
#include "plan/engine_trial.hpp"

#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A run of two workers.
class TrialOfTwo {
  public:
    // The engine executes for 200 ms. `waited`: the time for which both workers together waited.
    // Returns whether the run must leave the engine.
    bool leaves_after(std::uint64_t events_per_ms, milliseconds waited) {
        CHECK_FALSE(leaves());
        now_ += milliseconds(199);
        CHECK_FALSE(leaves());
        now_ += milliseconds(1);
        events_ += 200 * events_per_ms;
        waited_ += waited;
        return leaves();
    }
    bool leaves() {
        return is_conservative ? trial.leaves_conservative(now_, events_, waited_, has_memory)
                               : trial.leaves_timewarp(now_, events_);
    }
    void change_engine() {
        trial.begin();
        is_conservative = !is_conservative;
    }
    // Returns the seconds after which the run must leave the engine if the workers only wait; -1:
    // the engine may stay for 2,500 s.
    double left_after_seconds() {
        for (int i = 0; i <= 25'000; ++i) {
            ++events_;
            if (leaves()) return i / 10.0;
            now_ += milliseconds(100);
            waited_ += milliseconds(200);
        }
        return -1;
    }

    EngineTrial trial{TrialOptions{}, 2};
    bool is_conservative = true;
    bool has_memory = true;

  private:
    EngineTrial::Clock::time_point now_{std::chrono::seconds(1)};
    std::uint64_t events_ = 0;
    nanoseconds waited_{0};
};

TEST_CASE("EngineTrial: the conservative engine stays if its workers rarely wait") {
    TrialOfTwo run;
    CHECK_FALSE(run.leaves_after(1000, milliseconds(2)));
    CHECK(run.trial.reason() == "workers of the conservative engine waited for 0.5 % of the time");
}

TEST_CASE(
    "EngineTrial: the run leaves the conservative engine if its workers begin to wait later") {
    TrialOfTwo run;
    REQUIRE_FALSE(run.leaves_after(1000, milliseconds(2)));
    CHECK(run.left_after_seconds() == 2.0);
    run.change_engine();
    CHECK_FALSE(run.leaves_after(1000, milliseconds(0)));
    CHECK(run.trial.is_over());
    CHECK(run.left_after_seconds() == -1);
}

TEST_CASE("EngineTrial: Time Warp stays if it commits events faster") {
    TrialOfTwo run;
    REQUIRE(run.leaves_after(1000, milliseconds(5)));
    run.change_engine();
    CHECK_FALSE(run.trial.is_over());
    CHECK_FALSE(run.leaves_after(1200, milliseconds(0)));
    CHECK(run.trial.is_over());
    CHECK(run.trial.reason() ==
          "in the last trial the conservative engine committed 1.00 M events/s, Time Warp 1.20 M");
    CHECK(run.left_after_seconds() == -1);
}

TEST_CASE("EngineTrial: the conservative engine returns if Time Warp commits events more slowly") {
    TrialOfTwo run;
    REQUIRE(run.leaves_after(1000, milliseconds(300)));
    run.change_engine();
    REQUIRE(run.leaves_after(990, milliseconds(0)));
    run.change_engine();
    CHECK_FALSE(run.trial.is_over());
    CHECK(run.trial.reason() ==
          "in the last trial the conservative engine committed 1.00 M events/s, Time Warp 990 k");
    // The next comparison follows after a hundred times the duration of a trial.
    CHECK(run.left_after_seconds() == 20.0);
    run.change_engine();
    REQUIRE(run.leaves_after(0, milliseconds(0)));
    run.change_engine();
    CHECK(run.left_after_seconds() == 2000.0);
}

TEST_CASE("EngineTrial: without memory for Time Warp, the conservative engine stays") {
    TrialOfTwo run;
    run.has_memory = false;
    CHECK_FALSE(run.leaves_after(1000, milliseconds(300)));
    CHECK(run.trial.reason() ==
          "workers of the conservative engine waited for 75.0 % of the time; there is too little "
          "memory for a trial of Time Warp");
    run.has_memory = true;
    CHECK(run.left_after_seconds() == 2.0);
}

TEST_CASE("EngineTrial: a comparison that has not ended gives no reason") {
    TrialOfTwo run;
    REQUIRE(run.leaves_after(1000, milliseconds(300)));
    run.change_engine();
    REQUIRE(run.leaves_after(990, milliseconds(0)));
    const std::string ended_early = "the run ended during the trial of 0.2 s";
    CHECK(run.trial.reason() == ended_early);  // Time Warp has lost, but is still in use
    run.change_engine();
    CHECK(run.left_after_seconds() == 20.0);
    CHECK(run.trial.reason() == ended_early);
    run.change_engine();
    CHECK(run.trial.reason() == ended_early);
}

TEST_CASE("EngineTrial: there is a reason if the run is over before the trial") {
    EngineTrial trial(TrialOptions{}, 2);
    CHECK_FALSE(trial.leaves_conservative(EngineTrial::Clock::time_point{}, 0, {}, true));
    CHECK(trial.reason() == "the run ended during the trial of 0.2 s");
}

}  // namespace
}  // namespace nw::test
