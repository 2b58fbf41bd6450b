// The trial of --engine auto. The test passes the times and the totals.
#include "plan/engine_trial.hpp"

#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A run of two workers.
class TrialOfTwo {
  public:
    // The engine executes for 200 ms. `waited`: by both workers together. Returns the verdict.
    bool leaves_after(std::uint64_t events_per_ms, milliseconds waited) {
        CHECK_FALSE(trial.is_to_leave(now_, events_, waited_));
        now_ += milliseconds(199);
        CHECK_FALSE(trial.is_to_leave(now_, events_ + 1, waited_));
        now_ += milliseconds(1);
        events_ += 200 * events_per_ms;
        waited_ += waited;
        return trial.is_to_leave(now_, events_, waited_);
    }
    // Whether the engine is left at any time in the next seconds.
    bool leaves_later() {
        bool leaves = false;
        for (int i = 0; i < 50; ++i) {
            now_ += milliseconds(100);
            waited_ += milliseconds(200);
            leaves |= trial.is_to_leave(now_, ++events_, waited_);
        }
        return leaves;
    }

    EngineTrial trial{TrialOptions{}, 2};

  private:
    EngineTrial::Clock::time_point now_{std::chrono::seconds(1)};
    std::uint64_t events_ = 0;
    nanoseconds waited_{0};
};

TEST_CASE("EngineTrial: the conservative engine stays if its workers rarely wait") {
    TrialOfTwo run;
    CHECK_FALSE(run.leaves_after(1000, milliseconds(36)));
    CHECK(run.trial.is_over());
    CHECK(run.trial.reason() == "workers of the conservative engine waited for 9.0 % of the time");
    CHECK_FALSE(run.leaves_later());
}

TEST_CASE("EngineTrial: Time Warp stays if it commits events faster") {
    TrialOfTwo run;
    REQUIRE(run.leaves_after(1000, milliseconds(41)));
    run.trial.begin(EngineKind::timewarp);
    CHECK_FALSE(run.trial.is_over());
    CHECK_FALSE(run.leaves_after(1200, milliseconds(0)));
    CHECK(run.trial.is_over());
    CHECK(run.trial.reason() ==
          "in the trial the conservative engine committed 1.00 M events/s, Time Warp 1.20 M");
    CHECK_FALSE(run.leaves_later());
}

TEST_CASE("EngineTrial: the conservative engine returns if Time Warp commits events more slowly") {
    TrialOfTwo run;
    REQUIRE(run.leaves_after(1000, milliseconds(300)));
    run.trial.begin(EngineKind::timewarp);
    REQUIRE(run.leaves_after(990, milliseconds(0)));
    run.trial.begin(EngineKind::conservative);
    CHECK(run.trial.is_over());
    CHECK(run.trial.reason() ==
          "in the trial the conservative engine committed 1.00 M events/s, Time Warp 990 k");
    CHECK_FALSE(run.leaves_later());
}

TEST_CASE("EngineTrial: there is a reason if the run is over before the trial") {
    EngineTrial trial(TrialOptions{}, 2);
    CHECK_FALSE(trial.is_to_leave(EngineTrial::Clock::time_point{}, 0, {}));
    CHECK(trial.reason() == "the run ended during the trial of 0.2 s");
}

}  // namespace
}  // namespace nw::test
