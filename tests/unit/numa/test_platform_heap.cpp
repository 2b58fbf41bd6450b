#include <cstring>
#include <map>
#include <new>

#include "numa/fake_os.hpp"
#include "numa/platform_heap.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/numa/random_cases.hpp"

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

TEST_CASE("PlatformHeap: random allocation and freeing keeps every live chunk's bytes") {
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

TEST_CASE("PlatformHeap: more than 1 MiB is a segment, given back when freed") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable segments(source, GroupId{0});
    PlatformHeap heap(segments);
    void* large = heap.allocate(PlatformHeap::chunk_max + 1);
    CHECK(segments.entries().size() == 1);
    heap.free(large, PlatformHeap::chunk_max + 1);
    CHECK(segments.entries().empty());
    CHECK(heap.live_bytes() == 0);
}

TEST_CASE("PlatformHeap: a full slot throws bad_alloc, and what was freed can be had again") {
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
