// SPDX-License-Identifier: Apache-2.0
// EpochCounts::validate() finds counts that are impossible.
#include "gvt/epoch_counts.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/private_member.hpp"
#include "util/check.hpp"

namespace nw::test {

NW_TEST_OPEN(EpochOf, &EpochCounts::epoch_);
NW_TEST_OPEN(OlderEndOf, &EpochCounts::older_end_);
NW_TEST_OPEN(NextMessagesOf, &EpochCounts::next_messages_);
NW_TEST_OPEN(ClosedMinOf, &EpochCounts::closed_min_);

TEST_CASE("EpochCounts: validate() finds damage") {
    EpochCounts counts;
    for (int round = 0; round < 5; ++round) {
        counts.send({3.0, 0});
        counts.receive(counts.epoch());
        REQUIRE_NOTHROW(counts.validate());
        Contribution slot;
        counts.cut({}, slot);
        REQUIRE_NOTHROW(counts.validate());
        counts.learn(slot);
    }
    const auto check_found = [&](const char* what, auto& place, auto wrong) {
        INFO(what);
        const auto right = place;
        place = wrong;
        CHECK_THROWS_AS(counts.validate(), InternalError);
        place = right;
        CHECK_NOTHROW(counts.validate());
    };
    check_found("two cuts without a result", counts.*opened(EpochOf{}), 7u);
    check_found("a result was received before the cut", counts.*opened(EpochOf{}), 4u);
    check_found("the older set ends after the known epochs", counts.*opened(OlderEndOf{}), 6u);
    check_found("messages were sent in a future epoch", counts.*opened(NextMessagesOf{}), 1);
    check_found("a minimum is kept too long", counts.*opened(ClosedMinOf{}), EventBound(2.0, 0));
}

}  // namespace nw::test
