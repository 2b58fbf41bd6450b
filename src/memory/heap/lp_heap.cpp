// SPDX-License-Identifier: Apache-2.0
#include "memory/heap/lp_heap.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "memory/heap/group_memory.hpp"
#include "memory/heap/large_blocks.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// If the size of a class is a multiple of 64, its chunks begin at multiples of 64.
constexpr std::size_t data_offset_of(std::size_t c) noexcept {
    return small_classes[c].bytes % 64 == 0 ? 64 : 32;
}

// Block j of a class has about 128 · 2^j bytes, and 1 to 64 chunks. Block 0 is as small as
// possible, because many LPs never have another block.
constexpr std::size_t block_bytes(std::size_t c, std::uint32_t j) noexcept {
    const std::size_t chunk = small_classes[c].bytes;
    const std::size_t offset = data_offset_of(c);
    const std::size_t target =
        j == 0 ? offset + chunk
               : std::min(std::size_t{128} << std::min(j, 9U), StateSpans::block_bytes_max);
    const std::size_t chunks = std::clamp<std::size_t>((target - offset) / chunk, 1, 64);
    return (offset + chunks * chunk + StateSpans::unit_bytes - 1) / StateSpans::unit_bytes *
           StateSpans::unit_bytes;
}

constexpr std::size_t block_chunks(std::size_t c, std::size_t bytes) noexcept {
    return std::min<std::size_t>((bytes - data_offset_of(c)) / small_classes[c].bytes, 64);
}

static_assert(block_bytes(small_class_count - 1, 9) <= StateSpans::block_bytes_max);
static_assert(block_bytes(1, 0) == 64 && block_chunks(1, block_bytes(1, 0)) == 1);

constexpr std::size_t first_block_chunks_max() noexcept {
    std::size_t most = 0;
    for (std::size_t c = 0; c < small_class_count; ++c)
        most = std::max(most, block_chunks(c, block_bytes(c, 0)));
    return most;
}

constexpr std::size_t bin_array_bytes(std::uint32_t capacity) noexcept {
    return (capacity + (capacity + 63) / 64) * 8;
}

}  // namespace

PlatformHeap& LpHeap::platform() const noexcept { return group().platform(); }

// --- allocation ---

// Called if no block with a free chunk of this class is known. Searches the other blocks of the
// class, and adds a block if all are full.
void* LpHeap::allocate_elsewhere(std::size_t c) noexcept {
    try {
        Tables* all = tables();
        if (all == nullptr) {
            if (only() == nullptr) {
                Block* const block = new_block(c, 0);
                blocks_ = reinterpret_cast<std::uintptr_t>(block);
                return block != nullptr ? take_from(*block, c) : nullptr;
            }
            all = &make_tables(2);
        }
        Bin& bin = bin_for(all, c);
        if (bin.current != nullptr) repair_heads();
        while (bin.current == nullptr) {
            if (!find_vacancy(bin) && !add_block(bin, c)) return nullptr;
            if (bin.current->owner != this) [[unlikely]]
                repair_heads();
        }
        return take_from(*all, bin, c);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

std::span<LpHeap::Bin> LpHeap::bins(Bin& lone) const noexcept {
    if (Tables* const all = tables()) return {all->bins(), all->bin_count};
    Block* const block = only();
    if (block == nullptr) return {};
    const bool is_full = block->free_mask == 0;
    lone = Bin{{block}, is_full ? nullptr : block, 1, 1, 1, is_full ? 1U : 0U};
    return {&lone, 1};
}

std::uint32_t LpHeap::used_units() const noexcept {
    if (const Tables* const all = tables()) return all->used_units;
    static_assert(first_block_chunks_max() * chunk_in_use <= chunks_in_use);
    static_assert((tables_bit | chunks_in_use) < StateSpans::unit_bytes);
    const std::size_t chunks = (blocks_ & chunks_in_use) / chunk_in_use;
    if (chunks == 0) return 0;
    return static_cast<std::uint32_t>(chunks * (small_classes[only()->small_class].bytes / 16));
}

// Makes tables with room for `bin_capacity` bins, copies the heap's bins into the new tables, and
// releases the old tables.
LpHeap::Tables& LpHeap::make_tables(std::size_t bin_capacity) {
    Tables* const old = tables();
    auto& made = *new (platform().allocate(Tables::bytes(bin_capacity))) Tables{};
    Bin lone;
    const std::span<Bin> known = bins(lone);
    std::copy(known.begin(), known.end(), made.bins());
    made.used_units = used_units();
    if (old != nullptr) {
        made.large = old->large;
        made.bin_of_class = old->bin_of_class;
        platform().free(old, Tables::bytes(old->bin_capacity));
    } else if (only() != nullptr) {
        made.bin_of_class[only()->small_class] = 1;
    }
    made.bin_count = static_cast<std::uint8_t>(known.size());
    made.bin_capacity = static_cast<std::uint8_t>(bin_capacity);
    blocks_ = reinterpret_cast<std::uintptr_t>(&made) + tables_bit;
    return made;
}

// Returns the bin of class `c`. Adds the bin if there is none. If this needs larger tables, `all`
// points to the new tables afterwards.
LpHeap::Bin& LpHeap::bin_for(Tables*& all, std::size_t c) {
    if (all->bin_of_class[c] == 0) {
        if (all->bin_count == all->bin_capacity)
            all = &make_tables(all->bin_capacity * std::size_t{2});
        all->bins()[all->bin_count] = Bin{{nullptr}, nullptr, 0, 0, 1, 0};
        all->bin_of_class[c] = ++all->bin_count;
    }
    return all->bins()[all->bin_of_class[c] - 1];
}

bool LpHeap::find_vacancy(Bin& bin) noexcept {
    std::uint32_t j = bin.search_from;
    if (bin.capacity == 1) {
        if (j >= bin.count || bin.only->free_mask == 0) return false;
    } else {
        const std::uint64_t* const words = bin.vacancies();
        const std::uint32_t word_count = (bin.count + 63) / 64;
        std::uint32_t w = j / 64;
        if (w >= word_count) return false;
        std::uint64_t word = words[w] & (~std::uint64_t{0} << (j % 64));
        while (word == 0) {
            if (++w == word_count) {
                bin.search_from = bin.count;
                return false;
            }
            word = words[w];
        }
        j = w * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
    }
    bin.current = bin.block(j);
    bin.used = std::max(bin.used, j + 1);
    return true;
}

// Returns a block in which all chunks are free, or nullptr when the slot is full.
Block* LpHeap::new_block(std::size_t c, std::uint32_t index) noexcept {
    const std::size_t bytes = block_bytes(c, index);
    Block* const block = group().spans().allocate_block(bytes);
    if (block == nullptr) return nullptr;
    *block = head_of(c, index);
    return block;
}

// The head of a block in which all chunks are free.
Block LpHeap::head_of(std::size_t c, std::uint32_t index) noexcept {
    Block head{this,
               0,
               index,
               static_cast<std::uint8_t>(c),
               static_cast<std::uint8_t>(block_chunks(c, block_bytes(c, index))),
               static_cast<std::uint16_t>(data_offset_of(c))};
    head.free_mask = head.full_mask();
    return head;
}

std::size_t LpHeap::class_of(const Tables& all, std::size_t b) const noexcept {
    std::size_t c = 0;
    while (all.bin_of_class[c] != b + 1) ++c;
    return c;
}

bool LpHeap::has_broken_heads() const noexcept {
    Tables* const all = tables();
    if (all == nullptr) return false;
    for (std::size_t b = 0; b < all->bin_count; ++b) {
        const Bin& bin = all->bins()[b];
        for (std::uint32_t j = 0; j < bin.count; ++j)
            if (bin.block(j)->owner != this) return true;
    }
    return false;
}

void LpHeap::repair_heads() noexcept {
    Tables* const all = tables();
    if (all == nullptr) return;
    all->used_units = 0;
    for (std::size_t b = 0; b < all->bin_count; ++b) {
        Bin& bin = all->bins()[b];
        const std::size_t c = class_of(*all, b);
        bin.current = nullptr;
        bin.used = 0;
        for (std::uint32_t j = 0; j < bin.count; ++j) {
            Block& block = *bin.block(j);
            Block head = head_of(c, j);
            const std::uint64_t used = head.free_mask & ~block.free_mask;
            head.free_mask &= ~used;
            block = head;
            set_vacancy(bin, j, head.free_mask != 0);
            if (used != 0) bin.used = j + 1;
            all->used_units += static_cast<std::uint32_t>(
                static_cast<unsigned>(std::popcount(used)) * (small_classes[c].bytes / 16));
        }
        bin.search_from = 0;
    }
}

bool LpHeap::add_block(Bin& bin, std::size_t c) {
    if (bin.count == bin.capacity) {
        // 7 pointers and one word of vacancies are 64 bytes.
        const std::uint32_t wanted = bin.capacity == 1 ? 7 : bin.capacity * 2;
        auto* const grown = static_cast<Block**>(platform().allocate(bin_array_bytes(wanted)));
        Bin wider = bin;
        wider.blocks = grown;
        wider.capacity = wanted;
        std::memset(wider.vacancies(), 0, bin_array_bytes(wanted) - wanted * sizeof(Block*));
        for (std::uint32_t j = 0; j < bin.count; ++j) {
            grown[j] = bin.block(j);
            set_vacancy(wider, j, grown[j]->free_mask != 0);
        }
        if (bin.capacity != 1) platform().free(bin.blocks, bin_array_bytes(bin.capacity));
        bin = wider;
    }
    Block* const block = new_block(c, bin.count);
    if (block == nullptr) return false;
    if (bin.capacity == 1)
        bin.only = block;
    else
        bin.blocks[bin.count] = block;
    set_vacancy(bin, bin.count, true);
    bin.used = ++bin.count;
    bin.current = block;
    return true;
}

void LpHeap::set_vacancy(Bin& bin, std::uint32_t j, bool vacant) noexcept {
    if (bin.capacity == 1) return;
    std::uint64_t& word = bin.vacancies()[j / 64];
    const std::uint64_t bit = std::uint64_t{1} << (j % 64);
    word = vacant ? word | bit : word & ~bit;
}

void LpHeap::block_became_full(Bin& bin, Block& block) noexcept {
    set_vacancy(bin, block.index, false);
    bin.current = nullptr;
    bin.search_from = block.index + 1;
}

bool LpHeap::make_large() noexcept {
    try {
        Tables* all = tables();
        if (all == nullptr) all = &make_tables(2);
        all->large = LargeBlocks::create(platform());
        return all->large != nullptr;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void* LpHeap::allocate_large(std::size_t bytes, std::size_t alignment) noexcept {
    if (large() == nullptr && !make_large()) return nullptr;
    void* const chunk = large()->allocate(*this, group().spans(), platform(),
                                          std::max<std::size_t>(bytes, 1), alignment);
    if (fills_with_zeros() && chunk != nullptr) std::memset(chunk, 0, bytes);
    return chunk;
}

void* LpHeap::allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept {
    if (alignment <= chunk_alignment) return allocate(bytes);
    if (alignment <= 64 && bytes <= small_chunk_max)
        return allocate(std::max<std::size_t>(64, (bytes + 63) / 64 * 64));
    return allocate_large(bytes, alignment);
}

void* LpHeap::allocate_zeroed(std::size_t bytes) noexcept {
    void* const chunk = allocate(bytes);
    if (chunk != nullptr && !fills_with_zeros()) std::memset(chunk, 0, bytes);
    return chunk;
}

void* LpHeap::reallocate(void* address, std::size_t bytes) noexcept {
    Block* const block = StateSpans::find(address);
    const std::size_t old_bytes = usable_size(address);
    if (block->is_large()) {
        const std::size_t capacity = large()->capacity_of(*block);
        if (bytes > small_chunk_max && bytes <= capacity && bytes > capacity / 2) {
            large()->resize(*block, bytes);
            if (fills_with_zeros() && bytes > old_bytes)
                std::memset(static_cast<std::byte*>(address) + old_bytes, 0, bytes - old_bytes);
            return address;
        }
    } else if (bytes <= small_chunk_max && small_class_of(bytes) == block->small_class) {
        return address;
    }
    void* const moved = allocate(bytes);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, address, std::min(old_bytes, bytes));
    static_cast<void>(free(address));
    return moved;
}

// --- release and look-up ---

HeapFault LpHeap::locate(const void* address, Block*& block, unsigned& chunk) const noexcept {
    if (group().segments().is_below_cursor(address)) [[likely]]
        block = StateSpans::find_open(address);
    else
        block = is_group_memory(address) ? StateSpans::find(address) : nullptr;
    if (block == nullptr) return HeapFault::not_from_an_lp;
    if (block->owner != this) return HeapFault::other_lp;
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(address) - block->data());
    if (block->is_large()) {
        if (offset != 0) return HeapFault::not_a_chunk;
        return large()->bytes_of(*block) != 0 ? HeapFault::none : HeapFault::already_free;
    }
    if (offset >= span_bytes) return HeapFault::not_a_chunk;
    const SmallClass size = small_classes[block->small_class];
    chunk = static_cast<unsigned>((offset * size.reciprocal) >> 32);
    if (chunk * size.bytes != offset || chunk >= block->chunk_count) return HeapFault::not_a_chunk;
    return ((block->free_mask >> chunk) & 1) == 0 ? HeapFault::none : HeapFault::already_free;
}

HeapFault LpHeap::find_chunk(const void* address, std::span<std::byte>& chunk) const noexcept {
    Block* block = nullptr;
    if (group().segments().is_below_cursor(address)) [[likely]]
        block = StateSpans::find_open(address);
    else
        block = is_group_memory(address) ? StateSpans::find(address) : nullptr;
    if (block == nullptr) return HeapFault::not_from_an_lp;
    if (block->owner != this) return HeapFault::other_lp;
    if (address < block->data()) return HeapFault::not_a_chunk;
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(address) - block->data());
    if (block->is_large()) {
        const std::size_t bytes = large()->bytes_of(*block);
        if (bytes == 0) return HeapFault::already_free;
        chunk = {block->data(), bytes};
        return offset < bytes ? HeapFault::none : HeapFault::not_a_chunk;
    }
    const SmallClass size = small_classes[block->small_class];
    const std::size_t i = offset / size.bytes;
    if (i >= block->chunk_count) return HeapFault::not_a_chunk;
    if (((block->free_mask >> i) & 1) != 0) return HeapFault::already_free;
    chunk = {block->data() + i * size.bytes, size.bytes};
    return HeapFault::none;
}

HeapFault LpHeap::check(const void* address) const noexcept {
    Block* block = nullptr;
    unsigned chunk = 0;
    return locate(address, block, chunk);
}

HeapFault LpHeap::free(void* address) noexcept {
    Block* block = nullptr;
    unsigned chunk = 0;
    const HeapFault fault = locate(address, block, chunk);
    if (fault != HeapFault::none) [[unlikely]]
        return fault;
    if (block->is_large())
        large()->free(group().spans(), *block);
    else
        free_small(*block, chunk);
    return HeapFault::none;
}

void LpHeap::free_small(Block& block, unsigned chunk) noexcept {
    Tables* const all = tables();
    if (all == nullptr) {
        block.free_mask |= std::uint64_t{1} << chunk;
        blocks_ -= chunk_in_use;
        return;
    }
    all->used_units -= small_classes[block.small_class].bytes / 16;
    Bin& bin = all->bins()[all->bin_of_class[block.small_class] - 1];
    if (block.free_mask == 0) {
        set_vacancy(bin, block.index, true);
        // If no current block is known, all blocks below search_from are full. So only if the index
        // of this block is at most search_from, this block is certain to be the lowest block with a
        // free chunk.
        if (bin.current != nullptr ? block.index < bin.current->index
                                   : block.index <= bin.search_from)
            bin.current = &block;
    }
    block.free_mask |= std::uint64_t{1} << chunk;
    if (block.free_mask != block.full_mask() || block.index + 1 != bin.used) return;
    // Snapshots do not visit the empty blocks at the end.
    const std::uint32_t used_min = bin.current != nullptr ? bin.current->index + 1 : 0;
    while (bin.used > used_min) {
        const Block& last = *bin.block(bin.used - 1);
        if (last.free_mask != last.full_mask()) break;
        --bin.used;
    }
}

std::size_t LpHeap::usable_size(const void* address) const noexcept {
    const Block& block = *StateSpans::find(address);
    return block.is_large() ? large()->bytes_of(block) : small_classes[block.small_class].bytes;
}

LpHeap* LpHeap::owner_of(const void* address) noexcept {
    if (!is_group_memory(address)) return nullptr;
    const Block* const block = StateSpans::find(address);
    return block == nullptr ? nullptr : block->owner;
}

std::size_t LpHeap::used_bytes() const noexcept {
    return std::size_t{used_units()} * 16 + (large() != nullptr ? large()->live_bytes() : 0);
}

void LpHeap::for_each_chunk(const std::function<void(std::byte*, std::size_t)>& visit) const {
    Bin lone;
    for (const Bin& bin : bins(lone)) {
        for (std::uint32_t j = 0; j < bin.used; ++j) {
            Block& block = *bin.block(j);
            const std::size_t bytes = small_classes[block.small_class].bytes;
            for (std::uint64_t used = block.full_mask() & ~block.free_mask; used != 0;
                 used &= used - 1)
                visit(block.data() + static_cast<unsigned>(std::countr_zero(used)) * bytes, bytes);
        }
    }
    if (large() != nullptr) large()->for_each_chunk(visit);
}

void LpHeap::validate() const {
    std::size_t units = 0;
    Bin lone;
    for (const Bin& bin : bins(lone)) {
        if (bin.count == 0) continue;  // the slot had no room for the first block
        const std::size_t c = bin.block(0)->small_class;
        if (Tables* const all = tables()) NW_CHECK(&all->bins()[all->bin_of_class[c] - 1] == &bin);
        NW_CHECK(bin.count <= bin.capacity);
        NW_CHECK(bin.used <= bin.count);
        const std::uint32_t full_below =
            bin.current != nullptr ? bin.current->index : bin.search_from;
        NW_CHECK(full_below <= bin.count);
        if (bin.current != nullptr) {
            NW_CHECK(bin.current->free_mask != 0);
            NW_CHECK(bin.current->index < bin.used);
        }
        for (std::uint32_t j = 0; j < bin.count; ++j) {
            const Block& block = *bin.block(j);
            NW_CHECK(block.owner == this);
            NW_CHECK(block.index == j);
            NW_CHECK(block.small_class == c);
            NW_CHECK((block.free_mask & ~block.full_mask()) == 0);
            NW_CHECK(StateSpans::find(block.data()) == &block);
            if (j < full_below) NW_CHECK(block.free_mask == 0);
            if (j >= bin.used) NW_CHECK(block.free_mask == block.full_mask());
            if (bin.capacity > 1)
                NW_CHECK(((bin.vacancies()[j / 64] >> (j % 64)) & 1) ==
                         (block.free_mask != 0 ? 1U : 0U));
            units += static_cast<std::size_t>(std::popcount(block.full_mask() & ~block.free_mask)) *
                     (small_classes[c].bytes / 16);
        }
    }
    NW_CHECK(units == used_units());
    if (large() != nullptr) large()->validate(*this);
}

}  // namespace nw
