// SPDX-License-Identifier: Apache-2.0
// Compares the segment table with a std::map, in both memory modes.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "memory/handler/fault_guard.hpp"
#include "memory/region/segments.hpp"
#include "memory/region/slot_layout.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/unit/memory/small_slots.hpp"

using namespace nw;

TEST_CASE("SegmentTable: random allocation and release agree with a std::map") {
    const auto mode = GENERATE(MemoryMode::numa, MemoryMode::libc);
    for (const std::uint64_t seed : test::test_seeds(10)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        MemorySource source(linux_os(), mode, 8);
        SegmentTable table(source, GroupId{5});
        struct Expected {
            std::size_t bytes;
            SegmentKind kind;
            unsigned char mark;
        };
        std::map<std::byte*, Expected> model;
        const double release_share = dice.chance(0.5) ? 0.4 : 0.6;
        const std::size_t pages_max = dice.chance(0.5) ? 4 : 64;
        std::size_t entries_max = 0;
        for (int step = 0; step < 600; ++step) {
            if (!model.empty() && step > 100 && dice.chance(release_share)) {
                auto victim =
                    std::next(model.begin(), static_cast<std::ptrdiff_t>(dice.below(model.size())));
                REQUIRE(victim->first[0] == std::byte{victim->second.mark});
                REQUIRE(victim->first[victim->second.bytes - 1] == std::byte{victim->second.mark});
                table.release_segment(victim->first);
                model.erase(victim);
            } else {
                const std::size_t bytes = dice.below(pages_max * page_bytes) + 1;
                const auto kind = dice.chance(0.5) ? SegmentKind::state : SegmentKind::platform;
                auto* base = static_cast<std::byte*>(table.allocate_segment(bytes, kind));
                REQUIRE(base != nullptr);
                REQUIRE(reinterpret_cast<std::uintptr_t>(base) % page_bytes == 0);
                if (kind == SegmentKind::state) {
                    REQUIRE(reinterpret_cast<std::uintptr_t>(base) % span_bytes == 0);
                    REQUIRE((mode == MemoryMode::numa ? Region::contains(base)
                                                      : LibcSegments::contains(base)));
                }
                const auto mark = static_cast<unsigned char>(step);
                std::memset(base, mark, bytes);
                REQUIRE(model.emplace(base, Expected{bytes, kind, mark}).second);
            }
            entries_max = std::max(entries_max, model.size());
            REQUIRE(table.entries().size() == model.size());
            if (step % 20 != 0) continue;
            table.validate();
            std::size_t bytes = 0, taken = 0;
            for (const Segment& s : table.entries()) {
                const auto expected = model.find(s.base);
                REQUIRE(expected != model.end());
                REQUIRE(s.kind == expected->second.kind);
                REQUIRE(s.bytes >= expected->second.bytes);
                bytes += s.bytes;
                taken += taken_bytes(s);
            }
            REQUIRE(table.active_bytes() == bytes);
            REQUIRE(source.segment_bytes() == taken);
        }
        // The table has doubled several times.
        REQUIRE(entries_max > 80);
    }
}

TEST_CASE("SegmentTable: a release moves the last entry to the free place") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable table(source, GroupId{0});
    void* a = table.allocate_segment(page_bytes, SegmentKind::platform);
    table.allocate_segment(page_bytes, SegmentKind::platform);
    void* c = table.allocate_segment(page_bytes, SegmentKind::platform);
    table.release_segment(a);
    REQUIRE(table.entries().size() == 2);
    CHECK(table.entries()[0].base == c);
}

TEST_CASE("SegmentTable: a copy by another thread contains every segment that stays") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable table(source, GroupId{0});
    void* const first = table.allocate_segment(page_bytes, SegmentKind::state);
    std::atomic<bool> done{false};
    std::thread owner([&] {
        // The table doubles, and entries move to the places of other entries.
        std::vector<void*> bases;
        for (int i = 0; i < 2000; ++i)
            bases.push_back(table.allocate_segment(page_bytes, SegmentKind::platform));
        for (void* base : bases) table.release_segment(base);
        done = true;
    });
    std::vector<PageRange> copy;
    do {
        table.copy_ranges(copy);
        REQUIRE(!copy.empty());
        REQUIRE(copy[0].base == first);
        for (const PageRange& segment : copy) REQUIRE(segment.bytes % page_bytes == 0);
    } while (!done);
    owner.join();
    table.copy_ranges(copy);
    CHECK(copy.size() == 1);
}

TEST_CASE("SegmentTable: a released range is discarded and merged with its neighbors and reused") {
    FakeOs os(1, 1);
    MemorySource source(os, MemoryMode::numa, 1);
    SegmentTable table(source, GroupId{0});
    void* parts[4];
    for (void*& part : parts) part = table.allocate_segment(page_bytes, SegmentKind::platform);
    *static_cast<int*>(parts[1]) = 42;
    table.release_segment(parts[0]);
    table.release_segment(parts[2]);
    table.release_segment(parts[1]);
    CHECK(os.count(FakeOs::Call::discard) == 3);
    CHECK(table.allocate_segment(3 * page_bytes, SegmentKind::platform) == parts[0]);
    CHECK(*static_cast<int*>(parts[1]) == 0);
    table.validate();
}

TEST_CASE("SegmentTable: a full slot returns nullptr and is usable after a release") {
    FakeOs os(1, 1);
    os.set_reserve_bytes_max(std::size_t{16} << 20);
    MemorySource source(os, MemoryMode::numa, 2);
    REQUIRE(source.region()->slot_bytes() == std::size_t{4} << 20);
    SegmentTable table(source, GroupId{1});
    CHECK(table.allocate_segment(std::size_t{5} << 20, SegmentKind::state) == nullptr);
    CHECK(table.allocate_segment(SIZE_MAX, SegmentKind::state) == nullptr);
    void* most = table.allocate_segment(std::size_t{3} << 20, SegmentKind::state);
    REQUIRE(most != nullptr);
    CHECK(table.allocate_segment(std::size_t{2} << 20, SegmentKind::state) == nullptr);
    table.release_segment(most);
    const std::size_t all = SlotLayout{source.region()->slot(GroupId{1})}.segments().size();
    CHECK(table.allocate_segment(all, SegmentKind::state) == most);
    CHECK(table.allocate_segment(1, SegmentKind::platform) == nullptr);
    table.validate();
}

TEST_CASE("SegmentTable: the memory cap refuses large state but not memory of the platform") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    source.set_memory_cap(std::uint64_t{4} << 20);
    SegmentTable table(source, GroupId{0});
    CHECK(table.allocate_segment(std::size_t{5} << 20, SegmentKind::state) == nullptr);
    CHECK(table.allocate_segment(std::size_t{3} << 20, SegmentKind::state) != nullptr);
    CHECK(table.allocate_segment(std::size_t{3} << 20, SegmentKind::state) == nullptr);
    CHECK(table.allocate_segment(std::size_t{3} << 20, SegmentKind::platform) != nullptr);
    // If a handler call has taken 1 MiB, its small requests are also refused. Requests of the next
    // call are accepted.
    CHECK(table.allocate_segment(span_bytes, SegmentKind::state) == nullptr);
    FaultGuard guard;
    guard.arm();
    CHECK(table.allocate_segment(span_bytes, SegmentKind::state) != nullptr);
    guard.disarm();
}

TEST_CASE("SegmentTable: a handler is ended if the slot has no room for its events") {
    test::SmallSlots slots;
    MemorySource source(slots.os, MemoryMode::numa, test::SmallSlots::groups);
    SegmentTable table(source, GroupId{0});
    FaultGuard guard;
    guard.adopt_thread();
    if (sigsetjmp(guard.env(), 0) == 0) {
        guard.arm();
        void* last = nullptr;
        do last = table.allocate_segment(std::size_t{256} << 10, SegmentKind::platform);
        while (last != nullptr);
        guard.disarm();
        FAIL("the handler was not ended");
    }
    guard.recover();
    CHECK(std::string(guard.description()) == out_of_memory_message);
}

TEST_CASE("SegmentTable: allocated segments and some slack are open") {
    FakeOs os(1, 1);
    MemorySource source(os, MemoryMode::numa, 2);
    SegmentTable table(source, GroupId{0});
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    const auto is_closed = [&](void* base, std::size_t offset) {
        return os.is_closed(static_cast<std::byte*>(base) + offset);
    };
    const auto allocate = [&](std::size_t bytes) {
        void* const base = table.allocate_segment(bytes, SegmentKind::platform);
        REQUIRE(base != nullptr);
        REQUIRE_FALSE(is_closed(base, 0));
        REQUIRE_FALSE(is_closed(base, bytes - 1));
        return base;
    };
    void* const small = allocate(page_bytes);
    CHECK(is_closed(small, mebibyte));
    void* const large = allocate(80 * mebibyte);
    CHECK(is_closed(large, 80 * mebibyte + 11 * mebibyte));
    const std::size_t calls = os.count(FakeOs::Call::set_access);
    for (int i = 0; i < 100; ++i) allocate(page_bytes);
    CHECK(os.count(FakeOs::Call::set_access) == calls);

    // A released range between others is closed if it is larger than the slack. The parts that are
    // used later are opened again.
    table.release_segment(large);
    CHECK(is_closed(large, 0));
    CHECK(is_closed(large, 80 * mebibyte - 1));
    table.validate();
    CHECK(allocate(2 * mebibyte) == large);
    CHECK(is_closed(large, 2 * mebibyte));
    table.validate();

    // The range is merged with released neighbors. If the merged range is at the top, it becomes
    // fresh memory.
    while (!table.entries().empty()) table.release_segment(table.entries()[0].base);
    table.validate();
    CHECK(is_closed(small, 2 * mebibyte));
    CHECK(os.mapping_count() == 2);
    CHECK(allocate(page_bytes) == small);
}

TEST_CASE("SegmentTable: after random releases all segments are open and there are few mappings") {
    for (const std::uint64_t seed : test::test_seeds(10)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        FakeOs os(1, 1);
        os.set_mappings_max(200);
        MemorySource source(os, MemoryMode::numa, 4);
        SegmentTable table(source, GroupId{3});
        std::size_t closed_ranges = 0;
        for (int step = 0; step < 400; ++step) {
            if (dice.chance(0.5)) {
                const auto kind = dice.chance(0.5) ? SegmentKind::state : SegmentKind::platform;
                REQUIRE(table.allocate_segment(1 + dice.below(4 << 20), kind) != nullptr);
            } else if (!table.entries().empty()) {
                table.release_segment(table.entries()[dice.below(table.entries().size())].base);
            }
            if (dice.chance(0.05)) os.fail_next(FakeOs::Call::set_access, ENOMEM);
            if (step % 20 != 0) continue;
            table.validate();
            for (const Segment& segment : table.entries()) {
                REQUIRE_FALSE(os.is_closed(segment.base));
                REQUIRE_FALSE(os.is_closed(segment.base + segment.bytes - page_bytes));
            }
            closed_ranges = std::max(closed_ranges, os.mapping_count() / 2);
            REQUIRE(os.mapping_count() <= 150);
            os.fail_next(FakeOs::Call::set_access, 0, 0);
        }
        CHECK(closed_ranges > 1);
    }
}

TEST_CASE("SegmentTable: memory that the kernel does not open is not allocated") {
    FakeOs os(1, 1);
    MemorySource source(os, MemoryMode::numa, 1);
    os.fail_next(FakeOs::Call::set_access, ENOMEM);
    CHECK_THROWS_AS(SegmentTable(source, GroupId{0}), MachineError);
    SegmentTable table(source, GroupId{0});
    // If the slack cannot be opened, the segment is opened without the slack.
    os.fail_next(FakeOs::Call::set_access, ENOMEM);
    void* const large = table.allocate_segment(std::size_t{8} << 20, SegmentKind::state);
    REQUIRE(large != nullptr);
    CHECK_FALSE(os.is_closed(static_cast<std::byte*>(large) + (8 << 20) - 1));
    os.fail_next(FakeOs::Call::set_access, ENOMEM, 2);
    CHECK(table.allocate_segment(std::size_t{8} << 20, SegmentKind::state) == nullptr);
    CHECK(table.allocate_segment(std::size_t{8} << 20, SegmentKind::state) != nullptr);
    table.validate();
}

TEST_CASE("SegmentTable: groups of 8000 segments need few mappings") {
    MemorySource source(linux_os(), MemoryMode::numa, 8);
    SegmentTable table(source, GroupId{0});
    std::vector<void*> bases;
    for (int i = 0; i < 8000; ++i) {
        auto* base = static_cast<char*>(table.allocate_segment(page_bytes, SegmentKind::platform));
        REQUIRE(base != nullptr);
        if (i % 3 != 0) *base = 1;
        bases.push_back(base);
    }
    for (std::size_t i = 0; i < bases.size(); i += 2) table.release_segment(bases[i]);
    table.validate();
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    REQUIRE(maps != nullptr);
    char line[512];
    int mappings = 0;
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long long begin = 0;
        if (std::sscanf(line, "%llx-", &begin) == 1 && begin >= region_base &&
            begin < region_base + source.region()->bytes())
            ++mappings;
    }
    std::fclose(maps);
    CHECK(mappings < 10);
}
