// SPDX-License-Identifier: Apache-2.0
// Trials find with which of two windows more events are committed. The trials cost little. They are
// repeated, so that they find a change of the better window.
#include <cstdint>
#include <utility>

#include "gvt/window_trials.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

constexpr std::uint64_t ms = 1'000'000;

// Plays rounds of a millisecond. In each round, the number of committed events depends on the
// window.
class Player {
  public:
    // `ahead`: how far beyond GVT workers are if the window does not end at the lookahead.
    explicit Player(bool on = true, VirtualTime ahead = 3) : trials_(on), ahead_(ahead) {}

    void play(std::uint64_t milliseconds, std::uint64_t within, std::uint64_t beyond) {
        for (std::uint64_t i = 0; i < milliseconds; ++i) {
            now_ += ms;
            const bool is_within = trials_.within_lookahead();
            committed_ += is_within ? within : beyond;
            gvt_ += 1;
            rounds_within_ += is_within ? 1 : 0;
            const bool has_changed =
                trials_.update(now_, committed_, gvt_, gvt_ + (is_within ? 3 : ahead_));
            CHECK(has_changed == (is_within != trials_.within_lookahead()));
        }
    }
    // The number of rounds within the lookahead since the last call.
    std::uint64_t rounds_within() { return std::exchange(rounds_within_, 0); }
    bool is_within() const { return trials_.within_lookahead(); }

  private:
    WindowTrials trials_;
    VirtualTime ahead_;
    std::uint64_t now_ = 77 * ms;  // a clock may begin at any value
    std::uint64_t committed_ = 0;
    VirtualTime gvt_ = 0;
    std::uint64_t rounds_within_ = 0;
};

TEST_CASE("without trials no window ends with the lookahead") {
    Player player(false);
    player.play(10'000, 2000, 1000);
    CHECK(player.rounds_within() == 0);
}

TEST_CASE("the better window is found within a few trials and the other window costs little") {
    const bool within_is_better = GENERATE(false, true);
    Player player;
    CHECK(player.is_within());
    player.play(100, within_is_better ? 2000 : 1000, within_is_better ? 1000 : 2000);
    player.rounds_within();
    player.play(100'000, within_is_better ? 2000 : 1000, within_is_better ? 1000 : 2000);
    const std::uint64_t within = player.rounds_within();
    const std::uint64_t lost = within_is_better ? 100'000 - within : within;
    CHECK(lost > 0);  // trials continue
    CHECK(lost < 1500);
}

TEST_CASE(
    "after a wide window, the next trial begins even if GVT has not reached the latest event") {
    Player player(true, 10'000);
    player.play(1000, 1000, 2000);
    player.rounds_within();
    player.play(100'000, 1000, 2000);
    CHECK(player.rounds_within() > 0);
    player.play(100'000, 1000, 2000);
    CHECK(player.rounds_within() < 8000);
}

TEST_CASE("trials find a change of the better window") {
    Player player;
    player.play(20'000, 2000, 1000);
    player.rounds_within();
    player.play(20'000, 1000, 2000);
    CHECK(player.rounds_within() < 6000);
}

TEST_CASE("a gain below two percent does not change the window") {
    Player player;
    player.play(10'000, 1000, 1010);
    CHECK(player.rounds_within() > 9500);
}

TEST_CASE("a trial also ends if almost no events are committed") {
    Player player;
    player.play(1000, 1, 0);
    CHECK(player.rounds_within() > 500);
}

}  // namespace
}  // namespace nw::test
