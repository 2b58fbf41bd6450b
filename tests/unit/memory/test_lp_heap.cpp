// SPDX-License-Identifier: Apache-2.0
// Compares an LP's heap with a std::map: contents and addresses, also after restore.
#include <cstring>
#include <map>
#include <set>

#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/new_lp_heap.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/unit/memory/heap_driver.hpp"

using namespace nw;

TEST_CASE("size classes: every small request fits its class and classes are multiples of 16") {
    for (std::size_t bytes = 0; bytes <= small_chunk_max; ++bytes) {
        const std::size_t c = small_class_of(bytes);
        REQUIRE(c < small_class_count);
        REQUIRE(small_class_bytes(c) >= bytes);
        REQUIRE(small_class_bytes(c) % 16 == 0);
        if (c > 0) REQUIRE(small_class_bytes(c - 1) < std::max<std::size_t>(bytes, 1));
    }
    for (const SmallClass& size : small_classes)
        for (std::uint64_t offset = 0; offset < 65536; ++offset)
            REQUIRE((offset * size.reciprocal) >> 32 == offset / size.bytes);
}

// Method: random operations. At random moments, a snapshot is taken together with a copy of the
// model. At random moments, one of the snapshots is restored, and heap and model must agree again.
// Then the operations that followed the snapshot are repeated, and must return the same addresses.
TEST_CASE(
    "LpHeap: random use with snapshots agrees with a std::map and repeats the same addresses") {
    const auto mode = GENERATE(MemoryMode::numa, MemoryMode::libc);
    constexpr std::size_t head_bytes = 24;  // the caller writes into them
    std::size_t restores = 0;
    for (const std::uint64_t seed : test::test_seeds(40)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        MemorySource source(linux_os(), mode, 4);
        GroupMemory group(source, GroupId{2});
        LpHeap& heap = test::new_lp_heap(group);
        LpHeap& neighbor = test::new_lp_heap(group);
        test::HeapDriver driver(heap, seed + 1);
        test::HeapDriver other(neighbor, seed + 2);
        struct Saved {
            Snapshot* snapshot;
            test::Chunks chunks;
        };
        std::vector<Saved> saved;
        for (int round = 0; round < 60; ++round) {
            const std::size_t steps = dice.below(30);
            for (std::size_t i = 0; i < steps; ++i) {
                driver.step();
                if (dice.chance(0.2)) other.step();
            }
            const std::size_t expected_bytes = heap.snapshot_bytes();
            Snapshot* const previous = saved.empty() ? nullptr : saved.back().snapshot;
            Saved now{heap.take(group.platform(), previous, head_bytes), driver.chunks};
            REQUIRE(now.snapshot->bytes == expected_bytes);
            std::memset(reinterpret_cast<std::byte*>(now.snapshot) - head_bytes, 0xff, head_bytes);
            REQUIRE(heap.equals(*now.snapshot));
            std::vector<std::byte> copy(expected_bytes);
            if (now.snapshot->large_count == 0 && expected_bytes > 0) {
                REQUIRE(heap.write_if_small(copy.data(), expected_bytes) == expected_bytes);
                REQUIRE(heap.equals(*reinterpret_cast<const Snapshot*>(copy.data())));
            }
            REQUIRE(heap.write_if_small(copy.data(), expected_bytes - 8) == 0);

            // Executes operations, restores the snapshot, and executes the operations again.
            const std::uint64_t branch = dice.below(SIZE_MAX);
            const std::size_t ahead = dice.below(40);
            driver.reseed(branch);
            driver.returned.clear();
            for (std::size_t i = 0; i < ahead; ++i) driver.step();
            const auto first_time = driver.returned;
            if (dice.chance(0.3)) other.step();
            heap.restore(*now.snapshot);
            heap.validate();
            driver.chunks = now.chunks;
            REQUIRE(heap.equals(*now.snapshot));
            REQUIRE(holds(heap, driver.chunks));
            driver.reseed(branch);
            driver.returned.clear();
            for (std::size_t i = 0; i < ahead; ++i) driver.step();
            REQUIRE(driver.returned == first_time);
            saved.push_back(std::move(now));
            if (dice.chance(0.3)) {
                // Restores an older snapshot. Newer snapshots are dropped, as in a rollback.
                const std::size_t i = dice.below(saved.size());
                for (std::size_t k = i + 1; k < saved.size(); ++k)
                    LpHeap::drop(saved[k].snapshot, group.platform(), head_bytes);
                saved.resize(i + 1);
                heap.restore(*saved[i].snapshot);
                driver.chunks = saved[i].chunks;
                REQUIRE(heap.equals(*saved[i].snapshot));
                ++restores;
            }
            if (dice.chance(0.3) && !saved.empty()) {
                LpHeap::drop(saved.front().snapshot, group.platform(), head_bytes);
                saved.erase(saved.begin());
            }
            heap.validate();
            REQUIRE(holds(heap, driver.chunks));
        }
        for (const Saved& s : saved) LpHeap::drop(s.snapshot, group.platform(), head_bytes);
        neighbor.validate();
        REQUIRE(holds(neighbor, other.chunks));
        group.validate();
    }
    if (!test::seed_to_replay()) REQUIRE(restores > 50);
}

TEST_CASE("LpHeap: the same calls return the same addresses in a new group") {
    const auto run = [](std::uint64_t seed) {
        MemorySource source(linux_os(), MemoryMode::numa, 4);
        GroupMemory group(source, GroupId{1});
        LpHeap& heap = test::new_lp_heap(group);
        test::HeapDriver driver(heap, seed);
        for (int i = 0; i < 500; ++i) driver.step();
        return driver.returned;
    };
    for (const std::uint64_t seed : test::test_seeds(5)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        CHECK(run(seed) == run(seed));
    }
}

TEST_CASE("LpHeap: restore brings back freed chunks and removes new chunks") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(group);
    for (const std::size_t bytes : {std::size_t{48}, std::size_t{9000}, std::size_t{3} << 20}) {
        INFO(bytes << " bytes");
        auto* kept = static_cast<char*>(heap.allocate(bytes));
        std::memset(kept, 'a', bytes);
        Snapshot* const snapshot = heap.take(group.platform());
        REQUIRE(heap.free(kept) == HeapFault::none);
        auto* reused = static_cast<char*>(heap.allocate(bytes));
        CHECK(reused == kept);
        std::memset(reused, 'b', bytes);
        void* fresh = heap.allocate(bytes);
        REQUIRE(heap.free(reused) == HeapFault::none);
        CHECK_FALSE(heap.equals(*snapshot));
        heap.restore(*snapshot);
        CHECK(heap.equals(*snapshot));
        CHECK(heap.owns(kept));
        CHECK_FALSE(heap.owns(fresh));
        CHECK(std::string_view(kept, bytes).find_first_not_of('a') == std::string_view::npos);
        CHECK(heap.allocate(bytes) == fresh);
        heap.restore(*snapshot);
        LpHeap::drop(snapshot, group.platform());
        heap.validate();
    }
}

// A handler that runs out of order writes past a block. The LP allocates, frees and is saved before
// it is rolled back.
TEST_CASE("LpHeap: restore repairs overwritten block headers") {
    std::size_t broken = 0;
    for (const std::uint64_t seed : test::test_seeds(200)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        MemorySource source(linux_os(), MemoryMode::numa, 1);
        GroupMemory group(source, GroupId{0});
        LpHeap& heap = test::new_lp_heap(group);
        std::vector<std::byte*> chunks;
        const std::size_t sizes[] = {16, 24, 100, 1000};
        const auto allocate = [&] {
            auto* const chunk = static_cast<std::byte*>(heap.allocate(sizes[dice.below(4)]));
            REQUIRE(chunk != nullptr);
            chunks.push_back(chunk);
        };
        for (std::size_t i = 0; i < 60; ++i) allocate();
        for (std::byte* chunk : chunks) std::memset(chunk, 1, heap.usable_size(chunk));
        Snapshot* const snapshot = heap.take(group.platform());
        // Writes only over chunks of the first half, because memory behind the last block may not
        // be mapped.
        const std::size_t from = dice.below(30);
        std::memset(chunks[from], static_cast<int>(dice.below(256)), 30 + dice.below(700));
        broken += heap.has_broken_heads();
        for (std::size_t i = 0; i < 100; ++i) {
            if (dice.chance(0.5))
                allocate();
            else
                static_cast<void>(heap.free(chunks[dice.below(chunks.size())]));
        }
        LpHeap::drop(heap.take(group.platform()), group.platform());
        heap.restore(*snapshot);
        REQUIRE_FALSE(heap.has_broken_heads());
        REQUIRE(heap.equals(*snapshot));
        heap.validate();
        for (std::size_t i = 0; i < 60; ++i) REQUIRE(heap.check(chunks[i]) == HeapFault::none);
        LpHeap::drop(snapshot, group.platform());
    }
    REQUIRE(broken > 0);
}

TEST_CASE("LpHeap: equals finds a changed byte and an additional chunk and a missing chunk") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(group);
    auto* small = static_cast<char*>(heap.allocate_zeroed(100));
    auto* large = static_cast<char*>(heap.allocate_zeroed(100'000));
    Snapshot* const snapshot = heap.take(group.platform());
    CHECK(heap.equals(*snapshot));
    small[99] = 1;
    CHECK_FALSE(heap.equals(*snapshot));
    small[99] = 0;
    large[99'999] = 1;
    CHECK_FALSE(heap.equals(*snapshot));
    large[99'999] = 0;
    CHECK(heap.equals(*snapshot));
    void* more = heap.allocate(500);
    CHECK_FALSE(heap.equals(*snapshot));
    REQUIRE(heap.free(more) == HeapFault::none);
    CHECK(heap.equals(*snapshot));
    REQUIRE(heap.free(large) == HeapFault::none);
    CHECK_FALSE(heap.equals(*snapshot));
}

TEST_CASE("LpHeap: a snapshot of a small state is small even if the state was large before") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(group);
    void* object = heap.allocate(16);
    CHECK(heap.snapshot_bytes() <= 64);
    std::vector<void*> many;
    for (int i = 0; i < 20'000; ++i)
        many.push_back(heap.allocate(16 + static_cast<std::size_t>(i % 7) * 40));
    CHECK(heap.snapshot_bytes() > 1'000'000);
    for (void* chunk : many) REQUIRE(heap.free(chunk) == HeapFault::none);
    CHECK(heap.owns(object));
    CHECK(heap.snapshot_bytes() <= 160);
    heap.validate();
}

TEST_CASE("LpHeap: each of 65536 LPs with one object of 48 bytes needs less than 300 bytes") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    std::byte* before = nullptr;
    std::size_t neighbors = 0;
    for (int i = 0; i < 65'536; ++i) {
        auto* object = static_cast<std::byte*>(test::new_lp_heap(group).allocate(48));
        REQUIRE(object != nullptr);
        if (before != nullptr && object - before == 128) ++neighbors;
        before = object;
    }
    CHECK(group.segments().active_bytes() < std::size_t{65'536} * 300);
    CHECK(neighbors > 65'000);
}

TEST_CASE("LpHeap: invalid pointers are distinguished and change nothing") {
    const auto mode = GENERATE(MemoryMode::numa, MemoryMode::libc);
    MemorySource source(linux_os(), mode, 2);
    GroupMemory group(source, GroupId{0});
    LpHeap& mine = test::new_lp_heap(group);
    LpHeap& other = test::new_lp_heap(group);
    auto* chunk = static_cast<std::byte*>(mine.allocate(100));
    auto* large = static_cast<std::byte*>(mine.allocate(200'000));
    int local = 0;
    CHECK(mine.free(&local) == HeapFault::not_from_an_lp);
    CHECK(mine.free(group.platform().allocate(64)) == HeapFault::not_from_an_lp);
    CHECK(other.free(chunk) == HeapFault::other_lp);
    CHECK(other.free(large) == HeapFault::other_lp);
    CHECK(mine.free(chunk + 16) == HeapFault::not_a_chunk);
    CHECK(mine.free(chunk - 16) == HeapFault::not_a_chunk);
    CHECK(mine.free(large + 16) == HeapFault::not_a_chunk);
    CHECK(mine.free(large + 150'000) == HeapFault::not_from_an_lp);
    CHECK(LpHeap::owner_of(chunk) == &mine);
    CHECK(LpHeap::owner_of(&local) == nullptr);
    CHECK(mine.owns(chunk));
    CHECK(mine.owns(large));
    CHECK(mine.free(chunk) == HeapFault::none);
    CHECK(mine.free(chunk) == HeapFault::already_free);
    CHECK(mine.free(large) == HeapFault::none);
    CHECK(mine.free(large) == HeapFault::already_free);
    mine.validate();
    if (mode == MemoryMode::numa) {
        // An address that was never touched, in the slot of a group that does not exist yet.
        CHECK(mine.free(source.region()->slot(GroupId{1}).data() + 4096) ==
              HeapFault::not_from_an_lp);
    }
}

TEST_CASE("LpHeap: pages of freed large blocks return to the kernel and the addresses are reused") {
    FakeOs os(1, 1);
    MemorySource source(os, MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(group);
    for (int i = 0; i < 10; ++i) {
        void* buffer = heap.allocate(300'000);
        REQUIRE(heap.free(buffer) == HeapFault::none);
    }
    CHECK(os.count(FakeOs::Call::discard) == 0);
    void* huge = heap.allocate(std::size_t{64} << 20);
    REQUIRE(heap.free(huge) == HeapFault::none);
    CHECK(os.count(FakeOs::Call::discard) == 1);
    CHECK(os.records().back().bytes >= (std::size_t{64} << 20) - 2 * page_bytes);
    CHECK(heap.allocate(std::size_t{64} << 20) == huge);
    heap.validate();
}

TEST_CASE("LpHeap: a request that exceeds the slot returns nullptr and the heap stays usable") {
    FakeOs os(1, 1);
    os.set_reserve_bytes_max(std::size_t{4} << 20);
    MemorySource source(os, MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(group);
    CHECK(heap.allocate(std::size_t{1} << 40) == nullptr);
    CHECK(heap.allocate(SIZE_MAX) == nullptr);
    CHECK(heap.allocate(SIZE_MAX - 100) == nullptr);
    CHECK(heap.allocate_aligned(1 << 20, 100) == nullptr);
    Snapshot* const snapshot = heap.take(group.platform());
    std::size_t chunks = 0;
    while (heap.allocate(5000) != nullptr) ++chunks;
    CHECK(chunks > 100);
    heap.validate();
    heap.restore(*snapshot);
    heap.validate();
    CHECK(heap.used_bytes() == 0);
    while (heap.allocate(5000) != nullptr) --chunks;
    CHECK(chunks == 0);
}

TEST_CASE("LpHeap: in zero-fill mode each new chunk is zero") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(group);
    heap.set_zero_fill();
    for (const std::size_t bytes : {40, 20'000}) {
        auto* chunk = static_cast<char*>(heap.allocate(bytes));
        std::memset(chunk, 'x', bytes);
        REQUIRE(heap.free(chunk) == HeapFault::none);
        auto* again = static_cast<char*>(heap.allocate(bytes));
        REQUIRE(again == chunk);
        CHECK(std::string_view(again, bytes).find('x') == std::string_view::npos);
    }
}

// Method: random operations. For each size, a std::set contains the free blocks in the order of
// their addresses, which is the order in which they were made. So the heap must return the first
// block of the set.
TEST_CASE("LpHeap: a large request uses the first free block of its size even after restore") {
    for (const std::uint64_t seed : test::test_seeds(20)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        MemorySource source(linux_os(), MemoryMode::numa, 1);
        GroupMemory group(source, GroupId{0});
        LpHeap& heap = test::new_lp_heap(group);
        struct Size {
            std::size_t bytes;
            std::set<void*> used, free;
        };
        using Sizes = std::vector<Size>;
        Sizes sizes{{9'000, {}, {}}, {12'000, {}, {}}, {70'000, {}, {}}};
        Sizes saved_sizes = sizes;
        Snapshot* saved = heap.take(group.platform());
        for (int step = 0; step < 3000; ++step) {
            Size& size = sizes[dice.below(sizes.size())];
            if (size.used.empty() || dice.chance(0.55)) {
                void* const block = heap.allocate(size.bytes);
                if (!size.free.empty()) {
                    REQUIRE(block == *size.free.begin());
                    size.free.erase(size.free.begin());
                }
                size.used.insert(block);
            } else {
                const auto block = std::next(
                    size.used.begin(), static_cast<std::ptrdiff_t>(dice.below(size.used.size())));
                REQUIRE(heap.free(*block) == HeapFault::none);
                size.free.insert(size.used.extract(block));
            }
            if (dice.chance(0.01)) {
                LpHeap::drop(saved, group.platform());
                saved = heap.take(group.platform());
                saved_sizes = sizes;
            } else if (dice.chance(0.01)) {
                heap.restore(*saved);
                heap.validate();
                // Blocks that were made after the snapshot remain, and are free.
                for (std::size_t i = 0; i < sizes.size(); ++i) {
                    std::set<void*> all = sizes[i].used;
                    all.merge(sizes[i].free);
                    for (void* block : saved_sizes[i].used) all.erase(block);
                    sizes[i].used = saved_sizes[i].used;
                    sizes[i].free = std::move(all);
                }
            }
        }
        heap.validate();
        LpHeap::drop(saved, group.platform());
    }
}

TEST_CASE("LpHeap: a snapshot shares unchanged parts of large chunks with the previous snapshot") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    PlatformHeap& platform = group.platform();
    LpHeap& heap = test::new_lp_heap(group);
    constexpr std::size_t bytes = std::size_t{1} << 20;
    auto* const table = static_cast<char*>(heap.allocate(bytes));
    std::memset(table, 'a', bytes);
    const std::size_t before = platform.live_bytes();
    Snapshot* const first = heap.take(platform);
    const std::size_t all = platform.live_bytes() - before;
    CHECK(all >= bytes);
    CHECK(all < bytes + bytes / 64);

    std::memset(table + 500'000, 'b', 4096);
    Snapshot* const second = heap.take(platform, first);
    CHECK(platform.live_bytes() - before - all < 5 * page_bytes);

    std::memset(table, 'c', bytes);
    Snapshot* const third = heap.take(platform, second);
    heap.restore(*second);
    CHECK(heap.equals(*second));
    CHECK(std::string_view(table + 500'000, 4096).find_first_not_of('b') == std::string_view::npos);
    LpHeap::drop(second, platform);
    heap.restore(*first);
    CHECK(heap.equals(*first));
    CHECK(std::string_view(table, bytes).find_first_not_of('a') == std::string_view::npos);
    LpHeap::drop(first, platform);
    heap.restore(*third);
    CHECK(heap.equals(*third));
    CHECK(std::string_view(table, bytes).find_first_not_of('c') == std::string_view::npos);
    LpHeap::drop(third, platform);
    CHECK(platform.live_bytes() == before);
    heap.validate();
}

TEST_CASE("LpHeap: a snapshot stores no untouched or zero parts of large chunks") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    PlatformHeap& platform = group.platform();
    LpHeap& heap = test::new_lp_heap(group);
    constexpr std::size_t bytes = std::size_t{1} << 20;
    auto* const table = static_cast<char*>(heap.allocate(bytes));
    std::memset(table, 'a', 4096);
    const std::size_t before = platform.live_bytes();
    Snapshot* const snapshot = heap.take(platform);
    CHECK(platform.live_bytes() - before < 5 * page_bytes);
    std::memset(table, 'b', bytes);
    CHECK_FALSE(heap.equals(*snapshot));
    heap.restore(*snapshot);
    CHECK(heap.equals(*snapshot));
    CHECK(std::string_view(table, 4096).find_first_not_of('a') == std::string_view::npos);
    CHECK(std::string_view(table + 4096, bytes - 4096).find_first_not_of('\0') ==
          std::string_view::npos);
    LpHeap::drop(snapshot, platform);
    CHECK(platform.live_bytes() == before);
}
