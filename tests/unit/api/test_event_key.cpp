// SPDX-License-Identifier: Apache-2.0
// The total order of events. The results of all engines depend on this order.
#include "event/pending_entry.hpp"
#include "tests/support/catch.hpp"

namespace {

using nw::EventKey;

TEST_CASE("EventKey: the order is by time and then generation and sender and sequence") {
    const EventKey ascending[] = {{1, 0, 0, 0}, {1, 0, 0, 1}, {1, 0, 1, 0},         {1, 1, 0, 0},
                                  {2, 0, 0, 0}, {2, 0, 9, 0}, {2, 0xffffffff, 0, 0}};
    for (const EventKey& a : ascending) {
        for (const EventKey& b : ascending) {
            CHECK(before(a, b) == (&a < &b));
            CHECK((a < b) == (&a < &b));
            CHECK((a == b) == (&a == &b));
            CHECK((a >= b) == (&a >= &b));
        }
    }
}

TEST_CASE("PendingEntry: its key gives the same order as the entry") {
    const nw::PendingEntry entry{3.5, 1, 2, 3, 4, 0};
    CHECK(entry.key() == EventKey{3.5, 1, 2, 3});
    CHECK(before(EventKey{3.5, 1, 2, 2}, entry));
    CHECK_FALSE(before(entry, entry));
    CHECK_FALSE(before(entry, entry.key()));
}

}  // namespace
