// SPDX-License-Identifier: Apache-2.0
// Compares the ring of an LP's history with a std::deque. The events pass the wrap of the ordinals,
// which comes after 32 events.
#include "lp/history.hpp"

#include <deque>

#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/random_cases.hpp"

namespace nw::test {
namespace {

constexpr std::uint32_t stride = sizeof(HistoryEntry) + 16;

struct Memory {
    MemorySource source{linux_os(), MemoryMode::numa, 4};
    GroupMemory group{source, GroupId{1}};
    PlatformHeap& heap = group.platform();
};

// Stores `number` in random_used and in the last byte of the entry.
void put(History& history, PlatformHeap& heap, std::uint32_t number) {
    HistoryEntry& entry = history.append(stride, heap);
    entry = {};
    entry.random_used = number;
    entry.undo()[15] = static_cast<std::byte>(number);
}

void expect_same(History& history, const std::deque<std::uint32_t>& model) {
    REQUIRE(history.size() == model.size());
    REQUIRE(history.empty() == model.empty());
    History::Ordinal position = history.head();
    for (const std::uint32_t number : model) {
        REQUIRE(history.at(position, stride).random_used == number);
        REQUIRE(history.at(position, stride).undo()[15] == static_cast<std::byte>(number));
        ++position;
    }
    REQUIRE(position == history.tail());
}

TEST_CASE("History: random appends and trims and rollbacks agree with a deque across the wrap") {
    std::size_t wraps = 0;
    for (const std::uint64_t seed : test_seeds(20)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        Memory memory;
        History history;
        std::deque<std::uint32_t> model;
        const double share_of_appends = 0.4 + 0.1 * static_cast<double>(dice.below(4));
        for (std::uint32_t step = 0; step < 3000; ++step) {
            const History::Ordinal tail = history.tail();
            if (model.empty() || dice.chance(share_of_appends)) {
                put(history, memory.heap, step);
                model.push_back(step);
            } else if (dice.chance(0.7)) {
                history.drop_first();
                model.pop_front();
            } else {
                history.drop_last();
                model.pop_back();
            }
            wraps += tail == ~History::Ordinal{0} && history.tail() == 0;
            if (step % 16 == 0) expect_same(history, model);
        }
        expect_same(history, model);
        history.release(stride, memory.heap);
    }
    REQUIRE(wraps > 0);
}

TEST_CASE("History: the ring grows while its entries are on both sides of the wrap") {
    for (std::uint32_t before = 0; before < 20; ++before) {
        Memory memory;
        History history;
        std::deque<std::uint32_t> model;
        // Appends and drops single entries until `before` ordinals are left before the wrap. The
        // entries that follow are on both sides of the wrap.
        for (History::Ordinal p = History::first; p != 0u - before; ++p) {
            put(history, memory.heap, 0);
            history.drop_first();
        }
        REQUIRE(history.tail() == 0u - before);
        for (std::uint32_t number = 0; number < 70; ++number) {
            put(history, memory.heap, number);
            model.push_back(number);
            expect_same(history, model);
        }
        REQUIRE(history.tail() == 70 - before);
        history.release(stride, memory.heap);
    }
}

TEST_CASE("History: release() returns the memory of the ring") {
    Memory memory;
    History history;
    CHECK_NOTHROW(history.prefetch_next(stride));
    CHECK_NOTHROW(history.prefetch_first(stride));
    for (std::uint32_t number = 0; number < 1000; ++number) put(history, memory.heap, number);
    while (!history.empty()) history.drop_last();
    history.release(stride, memory.heap);
    CHECK(memory.heap.history_bytes() == 0);
    put(history, memory.heap, 7);
    CHECK(history.at(history.head(), stride).random_used == 7);
    CHECK(memory.heap.history_bytes() > 0);
    history.release(stride, memory.heap);
}

}  // namespace
}  // namespace nw::test
