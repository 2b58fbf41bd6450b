// SPDX-License-Identifier: Apache-2.0
// --check-heap: a write beyond a block is found, and its offset is reported. Other writes are not
// reported.
#include "memory/heap/heap_guards.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "memory/heap/group_memory.hpp"
#include "memory/region/memory_source.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/new_lp_heap.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;

namespace {

struct OneLp {
    OneLp() : source(linux_os(), MemoryMode::numa, 1), group(source, GroupId{0}) {}
    MemorySource source;
    GroupMemory group;
    LpHeap& heap = test::new_lp_heap(group);
};

std::byte* allocate(LpHeap& heap, std::size_t bytes, std::size_t alignment = 0) {
    auto* const block = static_cast<std::byte*>(HeapGuards::allocate(heap, bytes, alignment));
    REQUIRE(block != nullptr);
    return block;
}

}  // namespace

TEST_CASE("HeapGuards: a write past the end of a block is reported with the size and the offset") {
    OneLp lp;
    for (const std::size_t bytes : {0U, 1U, 24U, 100U, 5'000U, 9'000U, 300'000U}) {
        for (const std::size_t beyond : {0U, 1U, 31U}) {
            INFO(bytes << " bytes, " << beyond << " beyond");
            std::byte* const block = allocate(lp.heap, bytes);
            std::memset(block, 1, bytes);
            REQUIRE(HeapGuards::check_all(lp.heap) == HeapFault::none);
            block[bytes + beyond] = std::byte{1};
            REQUIRE(HeapGuards::check_all(lp.heap) == HeapFault::overflow);
            const std::string words = describe(HeapFault::overflow);
            CHECK(words.find("a block of " + std::to_string(bytes) + " bytes") !=
                  std::string::npos);
            CHECK(words.find("at offset " + std::to_string(bytes + beyond)) != std::string::npos);
            // The guard is repaired, so the write is reported once.
            CHECK(HeapGuards::check_all(lp.heap) == HeapFault::none);
            block[bytes + beyond] = std::byte{1};
            CHECK(HeapGuards::free(lp.heap, block) == HeapFault::overflow);
            CHECK(HeapGuards::check_all(lp.heap) == HeapFault::none);
        }
    }
    lp.heap.validate();
}

TEST_CASE("HeapGuards: a write over several blocks is reported for the first block") {
    OneLp lp;
    std::vector<std::byte*> blocks;
    for (int i = 0; i < 8; ++i) blocks.push_back(allocate(lp.heap, 40));
    std::size_t third = 0;
    for (std::size_t i = 1; i < blocks.size(); ++i)
        if (blocks[i] < blocks[third]) third = i;
    std::memset(blocks[third], 1, 300);
    const HeapFault fault = HeapGuards::check_all(lp.heap);
    REQUIRE(fault == HeapFault::overflow);
    CHECK(std::string(describe(fault))
              .find("a block of 40 bytes: the first byte changed is at "
                    "offset 40") != std::string::npos);
}

TEST_CASE("HeapGuards: a write before the beginning of a block is found") {
    OneLp lp;
    std::byte* const block = allocate(lp.heap, 40);
    block[-3] ^= std::byte{1};
    CHECK(HeapGuards::check_all(lp.heap) == HeapFault::underflow);
    CHECK(HeapGuards::free(lp.heap, block) == HeapFault::underflow);
}

TEST_CASE("HeapGuards: invalid frees are reported as the same faults as without guards") {
    OneLp lp;
    std::byte* const block = allocate(lp.heap, 40);
    std::byte* const large = allocate(lp.heap, 40'000);
    int local = 0;
    CHECK(HeapGuards::free(lp.heap, block + 8) == HeapFault::not_a_chunk);
    CHECK(HeapGuards::free(lp.heap, large + 8) == HeapFault::not_a_chunk);
    CHECK(HeapGuards::free(lp.heap, &local) == HeapFault::not_from_an_lp);
    LpHeap& other = test::new_lp_heap(lp.group);
    CHECK(HeapGuards::free(other, block) == HeapFault::other_lp);
    for (std::byte* address : {block, large}) {
        CHECK(HeapGuards::free(lp.heap, address) == HeapFault::none);
        CHECK(HeapGuards::free(lp.heap, address) == HeapFault::already_free);
    }
}

TEST_CASE("HeapGuards: random valid use and restores of the heap cause no report") {
    for (const std::uint64_t seed : test::test_seeds(5)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        OneLp lp;
        struct Block {
            std::byte* address;
            std::size_t bytes;
        };
        std::vector<Block> blocks, blocks_then;
        Snapshot* snapshot = nullptr;
        for (int step = 0; step < 800; ++step) {
            const std::size_t bytes = dice.below(dice.chance(0.1) ? 100'000 : 500);
            if (!blocks.empty() && dice.chance(0.45)) {
                Block& block = blocks[dice.below(blocks.size())];
                if (dice.chance(0.5)) {
                    block = {static_cast<std::byte*>(
                                 HeapGuards::reallocate(lp.heap, block.address, bytes)),
                             bytes};
                } else {
                    REQUIRE(HeapGuards::free(lp.heap, block.address) == HeapFault::none);
                    block = blocks.back();
                    blocks.pop_back();
                    continue;
                }
                std::memset(block.address, 2, bytes);
            } else {
                const std::size_t alignment =
                    dice.chance(0.2) ? std::size_t{16} << dice.below(11) : 0;
                std::byte* const address = allocate(lp.heap, bytes, alignment);
                if (alignment != 0)
                    REQUIRE(reinterpret_cast<std::uintptr_t>(address) % alignment == 0);
                REQUIRE(HeapGuards::usable_size(address) == bytes);
                std::memset(address, 3, bytes);
                blocks.push_back({address, bytes});
            }
            if (dice.chance(0.02)) {
                if (snapshot != nullptr) LpHeap::drop(snapshot, lp.group.platform());
                snapshot = lp.heap.take(lp.group.platform());
                blocks_then = blocks;
            } else if (snapshot != nullptr && dice.chance(0.02)) {
                lp.heap.restore(*snapshot);
                blocks = blocks_then;
            }
            if (step % 10 == 0) REQUIRE(HeapGuards::check_all(lp.heap) == HeapFault::none);
        }
        lp.heap.validate();
    }
}
