// SPDX-License-Identifier: Apache-2.0
#include "jobs/research/timed/plugin/ledger.hpp"

#include "tests/support/catch.hpp"

using namespace nw::timed;

namespace {

constexpr std::uint64_t line = 64;
constexpr Picoseconds millisecond = 1'000'000'000;

}  // namespace

TEST_CASE("Ledger: transfers that follow each other have the rate of the limit") {
    for (const std::uint64_t limit : {100, 3000, 5000, 12'800}) {
        INFO(limit << " MB/s");
        Ledger ledger;
        ledger.limit(limit);
        Picoseconds now = 0;
        std::uint64_t bytes = 0;
        while (now < millisecond) {
            now += ledger.enter(now, line);
            bytes += line;
        }
        // 1 MB/s is 1000 bytes per millisecond.
        const double rate =
            static_cast<double>(bytes) / 1000 / (static_cast<double>(now) / millisecond);
        CHECK(rate == Approx(static_cast<double>(limit)).epsilon(0.005));
    }
}

TEST_CASE("Ledger: a transfer at an earlier time takes the room that is left there") {
    Ledger ledger;
    ledger.limit(1000);  // 15 lines per window, and 40 bytes
    CHECK(ledger.enter(5 * Ledger::window, line) == 0);
    CHECK(ledger.enter(2 * Ledger::window, line) == 0);
    for (int i = 0; i < 15; ++i) CHECK(ledger.enter(2 * Ledger::window, line) == 0);
    // The last line has taken 24 bytes of the next window, which has room for the rest.
    CHECK(ledger.enter(2 * Ledger::window, line) == Ledger::window);
    CHECK(ledger.enter(2 * Ledger::window + 1000, line) == Ledger::window - 1000);
}

TEST_CASE("Ledger: without a limit, no transfer waits") {
    Ledger ledger;
    for (int i = 0; i < 1000; ++i) CHECK(ledger.enter(0, line) == 0);
}
