// SPDX-License-Identifier: Apache-2.0
// Random operations on an LP's heap, with a model of its expected content.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <vector>

#include "memory/heap/lp_heap.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

namespace nw::test {

// The expected content of a chunk.
struct Chunk {
    std::size_t bytes;
    std::uint64_t mark;
};
using Chunks = std::map<std::byte*, Chunk>;

inline void fill(std::byte* at, const Chunk& chunk) {
    for (std::size_t i = 0; i < chunk.bytes; ++i)
        at[i] = static_cast<std::byte>((chunk.mark + i * 31) & 0xFF);
}

inline bool holds(const std::byte* at, const Chunk& chunk) {
    for (std::size_t i = 0; i < chunk.bytes; ++i)
        if (at[i] != static_cast<std::byte>((chunk.mark + i * 31) & 0xFF)) return false;
    return true;
}

inline bool holds(const LpHeap& heap, const Chunks& chunks) {
    for (const auto& [at, chunk] : chunks)
        if (!heap.owns(at) || heap.usable_size(at) < chunk.bytes || !holds(at, chunk)) return false;
    return true;
}

// A seeded sequence of operations on a heap. `chunks` is the expected content of the heap. Two
// drivers with equal seeds do the same on equal heaps.
class HeapDriver {
  public:
    HeapDriver(LpHeap& heap, std::uint64_t seed) : heap_(&heap), dice_(seed) {
        free_share_ = dice_.chance(0.5) ? 0.3 : 0.55;
        sizes_ = dice_.below(4);
        realloc_share_ = dice_.chance(0.5) ? 0.2 : 0.0;
        aligned_share_ = dice_.chance(0.3) ? 0.1 : 0.0;
    }

    Chunks chunks;
    std::vector<std::byte*> returned;  // all addresses that the heap returned, in order

    void step() {
        if (!chunks.empty() && dice_.chance(free_share_))
            free_one();
        else if (!chunks.empty() && dice_.chance(realloc_share_))
            reallocate_one();
        else
            allocate_one();
    }

    void reseed(std::uint64_t seed) { dice_ = Dice(seed); }

  private:
    std::size_t any_size() {
        switch (sizes_) {
            case 0:
                return dice_.below(100);
            case 1:
                return 48;
            case 2:
                return dice_.below(3000);
            default: {
                const std::size_t magnitude = std::size_t{1} << dice_.below(18);
                return dice_.below(magnitude) + 1;
            }
        }
    }

    Chunks::iterator any_chunk() {
        return std::next(chunks.begin(), static_cast<std::ptrdiff_t>(dice_.below(chunks.size())));
    }

    void add(std::byte* at, std::size_t bytes) {
        returned.push_back(at);
        const auto after = chunks.upper_bound(at);
        if (after != chunks.end()) REQUIRE(at + bytes <= after->first);
        if (after != chunks.begin())
            REQUIRE(std::prev(after)->first + std::prev(after)->second.bytes <= at);
        const Chunk chunk{bytes, dice_.below(256)};
        fill(at, chunk);
        REQUIRE(chunks.emplace(at, chunk).second);
    }

    void allocate_one() {
        const std::size_t bytes = any_size();
        const bool aligned = dice_.chance(aligned_share_);
        const std::size_t alignment = aligned ? std::size_t{1} << dice_.below(13) : 16;
        void* const at =
            aligned ? heap_->allocate_aligned(alignment, bytes)
                    : (dice_.chance(0.1) ? heap_->allocate_zeroed(bytes) : heap_->allocate(bytes));
        REQUIRE(at != nullptr);
        REQUIRE(reinterpret_cast<std::uintptr_t>(at) % alignment == 0);
        REQUIRE(heap_->usable_size(at) >= bytes);
        add(static_cast<std::byte*>(at), bytes);
    }

    void free_one() {
        const auto it = any_chunk();
        REQUIRE(holds(it->first, it->second));
        REQUIRE(heap_->free(it->first) == HeapFault::none);
        REQUIRE_FALSE(heap_->owns(it->first));
        chunks.erase(it);
    }

    void reallocate_one() {
        const auto it = any_chunk();
        const Chunk old = it->second;
        const std::size_t bytes = any_size();
        auto* const at = static_cast<std::byte*>(heap_->reallocate(it->first, bytes));
        REQUIRE(at != nullptr);
        REQUIRE(holds(at, {std::min(bytes, old.bytes), old.mark}));
        chunks.erase(it);
        add(at, bytes);
    }

    LpHeap* heap_;
    Dice dice_;
    double free_share_;
    double realloc_share_;
    double aligned_share_;
    std::size_t sizes_;
};

}  // namespace nw::test
