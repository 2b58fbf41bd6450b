// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "memory/heap/platform_heap.hpp"
#include "memory/region/segments.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;

TEST_CASE("PlatformHeap: chunk sizes cover the request and waste at most a quarter above 1 KiB") {
    std::size_t before = 0;
    for (std::size_t bytes = 1; bytes < (std::size_t{3} << 20); bytes += 1 + bytes / 50) {
        const std::size_t chunk = PlatformHeap::chunk_bytes(bytes);
        REQUIRE(chunk >= bytes);
        REQUIRE(chunk % PlatformHeap::alignment == 0);
        REQUIRE(chunk >= before);
        if (bytes > 1024) REQUIRE(chunk <= bytes + bytes / 4 + 1);
        REQUIRE(PlatformHeap::chunk_bytes(chunk) == chunk);
        before = chunk;
    }
}

TEST_CASE("PlatformHeap: random allocation and freeing keep the bytes of every live chunk") {
    const auto mode = GENERATE(MemoryMode::numa, MemoryMode::libc);
    for (const std::uint64_t seed : test::test_seeds(10)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        MemorySource source(linux_os(), mode, 4);
        SegmentTable segments(source, GroupId{1});
        PlatformHeap heap(segments);
        struct Live {
            std::size_t bytes;
            unsigned char mark;
        };
        std::map<unsigned char*, Live> live;
        std::size_t live_bytes = 0;
        for (int step = 0; step < 4000; ++step) {
            if (!live.empty() && dice.chance(0.45)) {
                auto it =
                    std::next(live.begin(), static_cast<std::ptrdiff_t>(dice.below(live.size())));
                REQUIRE(it->first[0] == it->second.mark);
                REQUIRE(it->first[it->second.bytes - 1] == it->second.mark);
                live_bytes -= PlatformHeap::chunk_bytes(it->second.bytes);
                heap.free(it->first, it->second.bytes);
                live.erase(it);
            } else {
                const std::size_t magnitude = std::size_t{1} << dice.below(22);
                const std::size_t bytes = 1 + dice.below(step % 8 == 0 ? magnitude : 600);
                auto* chunk = static_cast<unsigned char*>(heap.allocate(bytes));
                REQUIRE(reinterpret_cast<std::uintptr_t>(chunk) % PlatformHeap::alignment == 0);
                const auto mark = static_cast<unsigned char>(step);
                std::memset(chunk, mark, bytes);
                auto after = live.upper_bound(chunk);
                if (after != live.end()) REQUIRE(chunk + bytes <= after->first);
                if (after != live.begin())
                    REQUIRE(std::prev(after)->first + std::prev(after)->second.bytes <= chunk);
                live.emplace(chunk, Live{bytes, mark});
                live_bytes += PlatformHeap::chunk_bytes(bytes);
            }
            REQUIRE(heap.live_bytes() == live_bytes);
        }
        heap.validate();
        segments.validate();
    }
}

TEST_CASE("PlatformHeap: the chunk freed last is used next") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable segments(source, GroupId{0});
    PlatformHeap heap(segments);
    void* a = heap.allocate(100);
    void* b = heap.allocate(100);
    heap.free(a, 100);
    heap.free(b, 100);
    CHECK(heap.allocate(90) == b);
    CHECK(heap.allocate(128) == a);
}

TEST_CASE("PlatformHeap: a chunk above 1 MiB is a segment that is released when freed") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable segments(source, GroupId{0});
    PlatformHeap heap(segments);
    void* large = heap.allocate(PlatformHeap::chunk_max + 1);
    CHECK(segments.entries().size() == 1);
    heap.free(large, PlatformHeap::chunk_max + 1);
    CHECK(segments.entries().empty());
    CHECK(heap.live_bytes() == 0);
}

TEST_CASE("PlatformHeap: a full slot throws bad_alloc and freed chunks can be allocated again") {
    FakeOs os(1, 1);
    os.set_reserve_bytes_max(std::size_t{4} << 20);
    MemorySource source(os, MemoryMode::numa, 1);
    SegmentTable segments(source, GroupId{0});
    PlatformHeap heap(segments);
    std::vector<void*> chunks;
    CHECK_THROWS_AS(
        [&] {
            for (;;) chunks.push_back(heap.allocate(4000));
        }(),
        std::bad_alloc);
    CHECK(chunks.size() > 200);
    heap.free(chunks.back(), 4000);
    CHECK(heap.allocate(4000) == chunks.back());
    heap.validate();
}

TEST_CASE("PlatformHeap: a group with one small object takes few pages") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable segments(source, GroupId{0});
    PlatformHeap heap(segments);
    heap.allocate(64);
    CHECK(segments.active_bytes() <= 4 * page_bytes);
}

TEST_CASE("PlatformHeap: releasing and splitting keep the bytes of every live chunk") {
    const auto mode = GENERATE(MemoryMode::numa, MemoryMode::libc);
    for (const std::uint64_t seed : test::test_seeds(10)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        MemorySource source(linux_os(), mode, 1);
        source.set_short();
        SegmentTable segments(source, GroupId{0});
        PlatformHeap heap(segments);
        struct Live {
            unsigned char* chunk;
            std::size_t bytes;
            unsigned char mark;
        };
        std::vector<Live> live;
        std::size_t live_bytes = 0, released = 0;
        const auto free_one = [&](std::size_t i) {
            const Live dead = live[i];
            const auto marked = std::count(dead.chunk, dead.chunk + dead.bytes, dead.mark);
            REQUIRE(marked == static_cast<std::ptrdiff_t>(dead.bytes));
            live_bytes -= PlatformHeap::chunk_bytes(dead.bytes);
            heap.free(dead.chunk, dead.bytes);
            live[i] = live.back();
            live.pop_back();
        };
        for (int step = 0; step < 6000; ++step) {
            // The heap fills for 1000 steps, then empties for 1000 steps.
            if (!live.empty() && dice.chance(step / 1000 % 2 == 0 ? 0.3 : 0.7)) {
                free_one(dice.below(live.size()));
            } else {
                const std::size_t magnitude = std::size_t{1} << dice.below(20);
                const std::size_t bytes = 1 + dice.below(step % 8 == 0 ? magnitude : 600);
                auto* chunk = static_cast<unsigned char*>(heap.allocate(bytes));
                const auto mark = static_cast<unsigned char>(1 + step % 255);
                std::memset(chunk, mark, bytes);
                live.push_back({chunk, bytes, mark});
                live_bytes += PlatformHeap::chunk_bytes(bytes);
            }
            REQUIRE(heap.live_bytes() == live_bytes);
            if (step % 500 != 499) continue;
            const std::size_t free_before = heap.free_bytes();
            const std::size_t now_released = heap.release_free_pages();
            REQUIRE(heap.free_bytes() + now_released == free_before);
            released += now_released;
            heap.validate();
            segments.validate();
        }
        REQUIRE(released > 0);
        while (!live.empty()) free_one(0);
        heap.release_free_pages();
        heap.validate();
        // The remaining free memory is on the same page as the memory from which chunks are cut.
        CHECK(heap.free_bytes() < 4 * page_bytes);
    }
}

TEST_CASE("PlatformHeap: a segment without live chunks is released and its pages are freed") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable segments(source, GroupId{0});
    PlatformHeap heap(segments);
    std::vector<void*> chunks;
    for (int i = 0; i < 100'000; ++i) {
        chunks.push_back(heap.allocate(200));
        std::memset(chunks.back(), 1, 200);
    }
    const std::size_t held = heap.held_bytes();
    const std::uint64_t resident = linux_os().resident_bytes();
    for (void* chunk : chunks) heap.free(chunk, 200);
    CHECK(heap.release_free_pages() > held - held / 8);
    CHECK(heap.held_bytes() < held / 4);
    // A sanitizer records each access in additional memory.
    if (!test::sanitized) CHECK(linux_os().resident_bytes() + held / 2 < resident);
    heap.validate();
}

TEST_CASE("PlatformHeap: if memory is short a large free chunk serves small requests") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable segments(source, GroupId{0});
    PlatformHeap heap(segments);
    heap.free(heap.allocate(4000), 4000);
    const std::size_t held = heap.held_bytes();
    source.set_short();
    for (int i = 0; i < 16; ++i) heap.allocate(192);
    CHECK(heap.free_bytes() == 4096 - 16 * 192);
    CHECK(heap.held_bytes() == held);
    heap.validate();
}
