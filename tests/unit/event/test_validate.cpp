// SPDX-License-Identifier: Apache-2.0
// validate() of the pending set and of bottom halves finds damage. Each check damages one member of
// a valid structure, calls validate(), and repairs the member.
#include <algorithm>
#include <vector>

#include "event/bottom_half.hpp"
#include "event/pending_set.hpp"
#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/private_member.hpp"
#include "util/check.hpp"

namespace nw::test {

NW_TEST_OPEN(SizeOf, &PendingSet::size_);
NW_TEST_OPEN(LateOf, &PendingSet::late_);
NW_TEST_OPEN(NextOf, &PendingSet::next_);
NW_TEST_OPEN(RingUsedOf, &PendingSet::ring_used_);
NW_TEST_OPEN(FarUsedOf, &PendingSet::far_used_);
NW_TEST_OPEN(RunNextOf, &PendingSet::run_next_);
NW_TEST_OPEN(ListedOf, &BottomHalf::listed_);
NW_TEST_OPEN(LiveOf, &BottomHalf::live_);
NW_TEST_OPEN(ExpiredOf, &BottomHalf::expired_);
NW_TEST_OPEN(UsedOf, &SlotBuffer::used_);
NW_TEST_OPEN(ReadyOf, &SlotBuffer::ready_);
NW_TEST_OPEN(BytesOf, &SlotBuffer::bytes_);
NW_TEST_OPEN(IdOf, &SlotBuffer::id_);

namespace {

template <class Look, class T, class U>
void check_found(Look&& is_good, const char* what, T& place, U&& wrong) {
    INFO(what);
    T right = place;
    place = static_cast<T>(wrong);
    CHECK(!is_good());
    place = right;
    CHECK(is_good());
}

}  // namespace

TEST_CASE("PendingSet: validate() finds damage and for_each visits all entries") {
    PendingSet set;
    for (std::uint32_t i = 0; i < 3000; ++i) set.push({100 + i * 0.37, 0, 1, i, 2, 0});
    for (int i = 0; i < 500; ++i) {
        set.top();
        set.pop();
    }
    set.push({3, 0, 1, 1, 2, 0});
    set.push({2, 0, 1, 1, 2, 0});
    set.push({1e12, 0, 1, 1, 2, 0});
    std::size_t visited = 0;
    set.for_each([&](const PendingEntry&) { ++visited; });
    REQUIRE(visited == set.size());

    const auto is_good = [&] { return set.validate(); };
    REQUIRE(is_good());
    check_found(is_good, "the size is one too large", set.*opened(SizeOf{}), set.size() + 1);
    check_found(is_good, "late entries are not a heap", (set.*opened(LateOf{})).front().time, 4.0);
    check_found(is_good, "the window is too far ahead", set.*opened(NextOf{}),
                (set.*opened(NextOf{})) + 1000);
    std::vector<std::uint64_t>& buckets = set.*opened(RingUsedOf{});
    const auto used_bucket =
        std::find_if(buckets.begin(), buckets.end(), [](std::uint64_t bits) { return bits != 0; });
    REQUIRE(used_bucket != buckets.end());
    check_found(is_good, "used buckets are not marked", *used_bucket, 0);
    check_found(is_good, "used bins are not marked", set.*opened(FarUsedOf{}), 0);
    PendingEntry* const run = set.*opened(RunNextOf{});
    REQUIRE(set.upcoming(1) != nullptr);
    check_found(is_good, "the run is not sorted", run->time, run[1].time + 1e-9);
}

TEST_CASE("BottomHalf: validate() finds damage") {
    MemorySource source(linux_os(), MemoryMode::numa, 4);
    GroupMemory memory(source, GroupId{1});
    BottomHalf mail(1, memory.mail());
    ReadyList ready;
    const auto is_good = [&] {
        try {
            mail.validate();
            ready.validate(1);
            return true;
        } catch (const InternalError&) {
            return false;
        }
    };
    REQUIRE(is_good());
    const std::vector<std::byte> bytes(6000);
    mail.push(bytes.data(), bytes.size(), ready);
    REQUIRE(ready.take_all() == &mail);
    mail.drain();
    mail.push(bytes.data(), bytes.size(), ready);
    REQUIRE(is_good());

    SlotBuffer& live = mail.*opened(LiveOf{});
    SlotBuffer& expired = mail.*opened(ExpiredOf{});
    check_found(is_good, "mail is not listed for the owner", mail.*opened(ListedOf{}), false);
    check_found(is_good, "more bytes are used than can be written", live.*opened(UsedOf{}),
                1 << 20);
    check_found(is_good, "more bytes are ready than are marked", live.*opened(ReadyOf{}), 20'000);
    check_found(is_good, "the buffer is not in its own area", expired.*opened(BytesOf{}),
                (expired.*opened(BytesOf{})) + 64);
    check_found(is_good, "both buffers have the same area", expired.*opened(IdOf{}), live.id());
    check_found(is_good, "the ready list has a cycle", mail.next_ready, &mail);
}

}  // namespace nw::test
