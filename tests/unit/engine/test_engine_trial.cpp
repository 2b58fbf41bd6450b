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
    // The seconds after which the engine is left if its workers only wait; -1: it is not left within
    // 2,500 s.
    double left_after_seconds() {
        for (int i = 0; i <= 25'000; ++i) {
            if (trial.is_to_leave(now_, ++events_, waited_)) return i / 10.0;
            now_ += milliseconds(100);
            waited_ += milliseconds(200);
        }
        return -1;
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
    CHECK(run.trial.reason() == "workers of the conservative engine waited for 9.0 % of the time");
}

TEST_CASE("EngineTrial: the conservative engine is left if its workers begin to wait later") {
    TrialOfTwo run;
    REQUIRE_FALSE(run.leaves_after(1000, milliseconds(36)));
    CHECK(run.left_after_seconds() == 2.0);
    run.trial.begin(EngineKind::timewarp);
    CHECK_FALSE(run.leaves_after(1000, milliseconds(0)));
    CHECK(run.trial.is_over());
    CHECK(run.left_after_seconds() == -1);
}

TEST_CASE("EngineTrial: Time Warp stays if it commits events faster") {
    TrialOfTwo run;
    REQUIRE(run.leaves_after(1000, milliseconds(41)));
    run.trial.begin(EngineKind::timewarp);
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
    run.trial.begin(EngineKind::timewarp);
    REQUIRE(run.leaves_after(990, milliseconds(0)));
    run.trial.begin(EngineKind::conservative);
    CHECK_FALSE(run.trial.is_over());
    CHECK(run.trial.reason() ==
          "in the last trial the conservative engine committed 1.00 M events/s, Time Warp 990 k");
    // The next comparison follows after a hundred times the time.
    CHECK(run.left_after_seconds() == 20.0);
    run.trial.begin(EngineKind::timewarp);
    REQUIRE(run.leaves_after(0, milliseconds(0)));
    run.trial.begin(EngineKind::conservative);
    CHECK(run.left_after_seconds() == 2000.0);
}

TEST_CASE("EngineTrial: there is a reason if the run is over before the trial") {
    EngineTrial trial(TrialOptions{}, 2);
    CHECK_FALSE(trial.is_to_leave(EngineTrial::Clock::time_point{}, 0, {}));
    CHECK(trial.reason() == "the run ended during the trial of 0.2 s");
}

}  // namespace
}  // namespace nw::test
