// SPDX-License-Identifier: Apache-2.0
#include "event/entry_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "util/meter_marks.hpp"

namespace nw {

void EntryPool::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

PendingEntry* EntryPool::extend(PendingEntry* tail) {
    if (free_ == nullptr) grow();
    Chunk* chunk = free_;
    free_ = chunk->previous;
    chunk->previous = tail != nullptr ? chunk_of(tail) : nullptr;
    chunk->below = count(tail);
    return chunk->entries;
}

void EntryPool::grow() {
    // The size of slabs doubles with the pool, up to the size of a huge page.
    const std::size_t slab_bytes =
        std::clamp(std::bit_ceil(bytes_), std::size_t{1} << 16, std::size_t{1} << 21);
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(slab_bytes, slab_bytes));
    if (memory == nullptr) throw std::bad_alloc();
    meter_memory<MeterKind::pending>(memory, slab_bytes);
    slabs_.emplace_back(memory);
    bytes_ += slab_bytes;
    // Highest address first, so that the lowest address is used first.
    for (std::size_t at = slab_bytes; at != 0; at -= chunk_bytes)
        give_back(new (memory + at - chunk_bytes) Chunk);
}

}  // namespace nw
