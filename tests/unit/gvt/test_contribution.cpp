// SPDX-License-Identifier: Apache-2.0
// Contributions are combined over workers and ranks in any order and grouping, so combine() must be
// commutative and associative.
#include "gvt/contribution.hpp"

#include <cstring>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

namespace nw::test {
namespace {

EventBound draw_bound(Dice& dice) {
    if (dice.chance(0.2)) return {};
    return {static_cast<double>(dice.below(5)), static_cast<std::uint32_t>(dice.below(3))};
}

Contribution draw(Dice& dice) {
    Contribution c;
    c.m0 = draw_bound(dice);
    for (Transit* transit : {&c.older, &c.newer})
        *transit = {draw_bound(dice), static_cast<std::int64_t>(dice.below(9)) - 4};
    c.lead = static_cast<double>(dice.below(9));
    for (std::uint64_t* sum : {&c.executed, &c.rolled_back, &c.committed, &c.resident_bytes,
                               &c.not_ended, &c.sent_beyond_end})
        *sum = dice.below(100);
    if (dice.chance(0.7))
        c.end_key = {static_cast<double>(dice.below(3)), 0,
                     static_cast<std::uint32_t>(dice.below(3)),
                     static_cast<std::uint32_t>(dice.below(3))};
    c.stop = dice.below(20);
    c.save = dice.below(2);
    c.clock_ns = dice.below(9);
    c.events_ahead = static_cast<std::uint32_t>(dice.below(9));
    return c;
}

bool same(const Transit& a, const Transit& b) { return a.min == b.min && a.messages == b.messages; }

bool same(const Contribution& a, const Contribution& b) {
    return a.m0 == b.m0 && same(a.older, b.older) && same(a.newer, b.newer) && a.lead == b.lead &&
           a.executed == b.executed && a.rolled_back == b.rolled_back &&
           a.committed == b.committed && a.resident_bytes == b.resident_bytes &&
           a.not_ended == b.not_ended && a.end_key == b.end_key &&
           a.sent_beyond_end == b.sent_beyond_end && a.stop == b.stop && a.save == b.save &&
           a.clock_ns == b.clock_ns && a.events_ahead == b.events_ahead;
}

Contribution combined(Contribution a, const Contribution& b) {
    a.combine(b);
    return a;
}

TEST_CASE(
    "Contribution: combine is commutative and associative, and an empty contribution changes "
    "nothing") {
    for (const std::uint64_t seed : test_seeds(2000)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        const Contribution a = draw(dice), b = draw(dice), c = draw(dice);
        REQUIRE(same(combined(a, b), combined(b, a)));
        REQUIRE(same(combined(combined(a, b), c), combined(a, combined(b, c))));
        REQUIRE(same(combined(a, Contribution{}), a));
        REQUIRE(same(combined(Contribution{}, a), a));
    }
}

TEST_CASE("Contribution: GVT is the minimum of pending events and events in flight") {
    Contribution c;
    CHECK(c.gvt() == EventBound{});
    c.m0 = {5, 2};
    CHECK(c.gvt() == EventBound(5, 2));
    c.older = {{3, 1}, 0};
    c.newer = {{4, 0}, 0};
    CHECK(c.gvt() == EventBound(5, 2));  // no message is in flight
    c.newer.messages = 1;
    CHECK(c.gvt() == EventBound(4, 0));
    c.older.messages = 2;
    CHECK(c.gvt() == EventBound(3, 1));
    CHECK(c.in_flight() == 3);
}

TEST_CASE("EventBound: the order is by time and then generation") {
    CHECK(EventBound(1, 9) < EventBound(2, 0));
    CHECK(EventBound(1, 3) < EventBound(1, 4));
    CHECK(!(EventBound(1, 4) < EventBound(1, 4)));
    CHECK(EventBound(1e300) < EventBound{});
}

}  // namespace
}  // namespace nw::test
