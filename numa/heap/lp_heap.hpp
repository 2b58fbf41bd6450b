// One LP's recoverable heap: ordinary malloc semantics, and snapshots that copy only what is in
// use. After DyMeLoR (Toccaceli, Quaglia: "DyMeLoR: Dynamic Memory Logger and Restorer Library for
// Optimistic Simulation Objects with Generic Memory Layout", PADS 2008): size classes, bitmaps.
//
// Small chunks (≤ 8 KiB) live in blocks of up to 64 with one 64-bit mask in the block's head; the
// blocks of a size class form a bin, in which block j holds more the larger j is, from 128 bytes
// on, but for the first, which may be smaller. Larger chunks have a block each. A heap with one block
// of small chunks, as most LPs have where there are very many, is that block and 32 bytes; the tables of
// bins and of large chunks are made when there is more.
//
// The policy is canonical: the lowest free chunk of the lowest block of the class that has one.
// What allocate() returns is thus a function of the masks alone, and blocks never leave the LP: so
// after restore() the same calls get the same addresses as they did the first time, and there is
// no hint or list to save with a snapshot. Within one size class a later block has the higher
// address, unless the group's slot runs full. (Across classes the order of addresses depends on
// which class grew first, undone growth included: a model must not order objects of different sizes
// by address. Nor by address at all with --memory libc.)
//
// Memory an LP has freed is kept for it; only the pages of large blocks go back to the kernel once
// more than 1 MiB of them is free.
//
// One owner thread: that of the LP's group. Safe to call with this heap or none current.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "numa/handler/heap_fault.hpp"
#include "numa/heap/platform_heap.hpp"
#include "numa/heap/snapshot.hpp"
#include "numa/heap/state_spans.hpp"
#include "numa/region/size_classes.hpp"

namespace nw {

class GroupMemory;
class LargeBlocks;

class alignas(32) LpHeap {
  public:
    // Made by GroupMemory::new_lp_heap().
    explicit LpHeap(GroupMemory& group) noexcept;
    LpHeap(const LpHeap&) = delete;
    LpHeap& operator=(const LpHeap&) = delete;

    // All return nullptr when the group's slot is full. Addresses are multiples of 16.
    void* allocate(std::size_t bytes) noexcept {
        if (bytes <= small_chunk_max) [[likely]] {
            const std::size_t c = small_class_of(bytes);
            if (tables_ != nullptr) {
                const std::size_t b = tables_->bin_of_class[c];
                if (b != 0) [[likely]] {
                    Bin& bin = tables_->bins()[b - 1];
                    if (bin.current != nullptr) [[likely]]
                        return take_from(bin, c);
                }
            } else if (only_ != nullptr && only_->small_class == c && only_->free_mask != 0) {
                return take_chunk(*only_, c);
            }
            return allocate_elsewhere(c);
        }
        return allocate_large(bytes, chunk_alignment);
    }
    // Requires: alignment a power of two. nullptr, too, if it is above 32 KiB.
    void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept;
    void* allocate_zeroed(std::size_t bytes) noexcept;
    // Requires: check(address) == HeapFault::none. nullptr leaves the old chunk as it was.
    void* reallocate(void* address, std::size_t bytes) noexcept;

    // Refuses, and changes nothing, unless check(address) is `none`.
    [[nodiscard]] HeapFault free(void* address) noexcept;

    // What free(address) would say.
    HeapFault check(const void* address) const noexcept;
    // The chunk in use that the address lies in; the fault is free()'s, but that the address need not
    // be the chunk's beginning. Of a large chunk only the first 64 KiB are recognised.
    HeapFault find_chunk(const void* address, std::span<std::byte>& chunk) const noexcept;
    bool owns(const void* address) const noexcept { return check(address) == HeapFault::none; }
    // Requires: owns(address).
    std::size_t usable_size(const void* address) const noexcept;

    // The heap whose block the address lies in; nullptr if it is no LP's memory. Any thread.
    static LpHeap* owner_of(const void* address) noexcept;

    // Bytes in allocated chunks (small ones in their class's size, large ones as asked for).
    std::size_t used_bytes() const noexcept;

    // --- snapshots; call in platform mode ---

    // Size of the buffer that take() would need now, without pieces of large chunks. Cost: O(size classes
    // and large chunks in use).
    std::size_t snapshot_bytes() const noexcept;
    // Large chunks share what is as it was in `previous`, an older snapshot of this heap, with it (piece.hpp).
    // Throws std::bad_alloc. Cost: a copy of the chunks in use, or a comparison, and 8 bytes a block.
    Snapshot* take(PlatformHeap& memory, Snapshot* previous = nullptr) const;
    // Ensures: contents and allocation state are those at take(); equals(snapshot).
    // Requires: the snapshot is of this heap. It stays valid.
    void restore(const Snapshot& snapshot) noexcept;
    bool equals(const Snapshot& snapshot) const noexcept;
    // Others that share something with it stay valid.
    static void drop(Snapshot* snapshot, PlatformHeap& memory) noexcept;
    // Calls visit(address, bytes, saved bytes) for every chunk that was in use at take(). The saved bytes
    // may be gone when it returns.
    using VisitSaved = std::function<void(const std::byte*, std::size_t, const std::byte*)>;
    void for_each_saved_chunk(const Snapshot& snapshot, const VisitSaved& visit) const;

    // Calls visit(address, bytes) for every chunk in use, in no particular order.
    void for_each_chunk(const std::function<void(std::byte*, std::size_t)>& visit) const;

    // The heap's bytes were brought back at their old place (group_image.hpp): this is its group now.
    void adopt(GroupMemory& group) noexcept { group_ = &group; }

    // Fresh chunks are filled with zeros from now on, so that executing an event again leaves
    // equal bytes even where the model writes none (for --check-rollback).
    void set_zero_fill() noexcept { zero_fill_ = true; }

    void validate() const;

  private:
    // The blocks of one size class. Blocks [used, count) are empty; current is the lowest block
    // with a free chunk, or null when no block below `search_from` has one and the rest is unknown.
    // current != null ⇒ current->index < used.
    struct Bin {
        union {
            Block* only;     // capacity == 1
            Block** blocks;  // capacity pointers, then ⌈capacity/64⌉ words: bit j set iff block j
                             // has a free chunk
        };
        Block* current;
        std::uint32_t count;
        std::uint32_t used;
        std::uint32_t capacity;
        std::uint32_t search_from;

        Block* block(std::uint32_t j) const noexcept { return capacity == 1 ? only : blocks[j]; }
        std::uint64_t* vacancies() const noexcept {
            return reinterpret_cast<std::uint64_t*>(blocks + capacity);
        }
    };
    static_assert(sizeof(Bin) == 32);

    // Platform memory; all but the bins, in order of first use, which follow.
    struct Tables {
        LargeBlocks* large;  // platform memory; null until a large chunk is asked for
        std::uint8_t bin_count;
        std::uint8_t bin_capacity;
        std::array<std::uint8_t, small_class_count> bin_of_class;  // 1 + its index, 0: none

        Bin* bins() noexcept { return reinterpret_cast<Bin*>(this + 1); }
        static constexpr std::size_t bytes(std::size_t bins) noexcept {
            return sizeof(Tables) + bins * sizeof(Bin);
        }
    };

    void* take_chunk(Block& block, std::size_t c) noexcept {
        const std::uint64_t mask = block.free_mask;
        const unsigned i = static_cast<unsigned>(std::countr_zero(mask));
        const std::size_t bytes = small_classes[c].bytes;
        block.free_mask = mask & (mask - 1);
        used_units_ += static_cast<std::uint32_t>(bytes / 16);
        std::byte* const chunk = block.data() + i * bytes;
        if (zero_fill_) [[unlikely]]
            __builtin_memset(chunk, 0, bytes);
        return chunk;
    }
    // Requires: bin.current != null.
    void* take_from(Bin& bin, std::size_t c) noexcept {
        Block& block = *bin.current;
        void* const chunk = take_chunk(block, c);
        if (block.free_mask == 0) [[unlikely]]
            block_became_full(bin, block);
        return chunk;
    }

    void* allocate_elsewhere(std::size_t c) noexcept;
    bool make_large() noexcept;
    void* allocate_large(std::size_t bytes, std::size_t alignment) noexcept;
    void free_small(Block& block, unsigned chunk) noexcept;
    HeapFault locate(const void* address, Block*& block, unsigned& chunk) const noexcept;
    static void block_became_full(Bin& bin, Block& block) noexcept;
    static void set_vacancy(Bin& bin, std::uint32_t j, bool vacant) noexcept;
    static bool find_vacancy(Bin& bin) noexcept;
    // All bins. Without tables it is `lone`, which becomes what the only block's would be.
    std::span<Bin> bins(Bin& lone) const noexcept;
    LargeBlocks* large() const noexcept { return tables_ != nullptr ? tables_->large : nullptr; }
    // Throw std::bad_alloc.
    void make_tables(std::size_t bin_capacity);
    Bin& bin_for(std::size_t c);
    Block* new_block(std::size_t c, std::uint32_t index) noexcept;
    bool add_block(Bin& bin, std::size_t c);
    void restore_bin(Bin& bin, std::uint32_t used, const std::byte*& image) noexcept;
    PlatformHeap& platform() const noexcept;

    GroupMemory* group_;
    Block* only_ = nullptr;         // of small chunks; without meaning where there are tables
    Tables* tables_ = nullptr;      // null while one block, or none, is all there is
    std::uint32_t used_units_ = 0;  // of 16 bytes, in small chunks
    bool zero_fill_ = false;
};
static_assert(sizeof(LpHeap) == 32);

}  // namespace nw
