// SPDX-License-Identifier: Apache-2.0
// The class LpHeap (lp_heap.hpp) without its inline functions and their includes. For code that
// holds a heap and does not allocate from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "util/prefetch.hpp"

namespace nw {

class GroupMemory;
class LargeBlocks;
class PlatformHeap;
enum class HeapFault : std::uint8_t;
struct Block;
struct Snapshot;

class LpHeap {
  public:
    // Requires: the object lies in memory of the group, and stays at its address as long as this
    // memory exists.
    explicit LpHeap(GroupMemory& group) noexcept
        : group_(reinterpret_cast<std::uintptr_t>(&group)) {}
    LpHeap(const LpHeap&) = delete;
    LpHeap& operator=(const LpHeap&) = delete;

    // allocate(), allocate_aligned(), allocate_zeroed() and reallocate() return nullptr when the
    // group's slot is full. Addresses are multiples of 16.
    inline void* allocate(std::size_t bytes) noexcept;  // in lp_heap.hpp
    // Returns nullptr also if the alignment is above 32 KiB. Requires: alignment is a power of two.
    void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept;
    void* allocate_zeroed(std::size_t bytes) noexcept;
    // If nullptr is returned, the old chunk is unchanged.
    // Requires: check(address) == HeapFault::none.
    void* reallocate(void* address, std::size_t bytes) noexcept;

    // If check(address) is not `none`, returns this fault and changes nothing.
    [[nodiscard]] HeapFault free(void* address) noexcept;

    // The result that free(address) would have.
    HeapFault check(const void* address) const noexcept;
    // Finds the chunk in use that contains the address. Returns the same faults as free(), except
    // that the address may be anywhere in the chunk. In a large chunk only the first 64 KiB are
    // recognized.
    HeapFault find_chunk(const void* address, std::span<std::byte>& chunk) const noexcept;
    inline bool owns(const void* address) const noexcept;  // in lp_heap.hpp
    // Requires: owns(address).
    std::size_t usable_size(const void* address) const noexcept;

    // The heap whose block contains the address; nullptr if the address is not in memory of an LP.
    // Thread: any.
    static LpHeap* owner_of(const void* address) noexcept;

    // Bytes in allocated chunks. Small chunks count with the size of their class, large chunks with
    // the requested size.
    std::size_t used_bytes() const noexcept;

    // --- snapshots; call in platform mode ---

    // The size of the buffer that take() would allocate now, without the pieces of large chunks.
    // Cost: O(size classes and large chunks in use).
    std::size_t snapshot_bytes() const noexcept;
    // The snapshot shares equal pieces of large chunks with `previous`, an older snapshot of this
    // heap (piece.hpp). The buffer begins with `head_bytes` bytes for the caller, a multiple of 8.
    // The snapshot follows. Throws std::bad_alloc.
    // Cost: a copy or a comparison of the chunks in use, and 8 bytes per block.
    Snapshot* take(PlatformHeap& memory, Snapshot* previous = nullptr, std::size_t head_bytes = 0);
    // If the snapshot that take() would make has at most `limit` bytes and no large chunks, writes
    // this snapshot into the buffer. Returns the size of the snapshot in bytes, a multiple of 8; 0
    // if nothing was written.
    std::size_t write_if_small(std::byte* buffer, std::size_t limit) const noexcept;
    // Prefetches the memory that take() reads first: the heap's only block, or its tables.
    void prefetch_blocks() const noexcept { prefetch(reinterpret_cast<const void*>(blocks_)); }
    // Ensures: contents and allocation state are as they were at take(); equals(snapshot).
    // Requires: the snapshot is of this heap. The snapshot stays valid.
    void restore(const Snapshot& snapshot) noexcept;
    bool equals(const Snapshot& snapshot) const noexcept;
    // Frees the snapshot with its head. Snapshots that share pieces with it stay valid.
    // `head_bytes`: as for take().
    static void drop(Snapshot* snapshot, PlatformHeap& memory, std::size_t head_bytes = 0) noexcept;
    // Calls visit(address, bytes, saved bytes) for every chunk that was in use at take(). The saved
    // bytes are valid only during the call.
    using VisitSaved = std::function<void(const std::byte*, std::size_t, const std::byte*)>;
    void for_each_saved_chunk(const Snapshot& snapshot, const VisitSaved& visit) const;

    // Calls visit(address, bytes) for every chunk in use, in no particular order.
    void for_each_chunk(const std::function<void(std::byte*, std::size_t)>& visit) const;

    // Sets the heap's group. Called after the heap's bytes were restored at their old address
    // (group_image.hpp).
    void adopt(GroupMemory& group) noexcept {
        group_ = reinterpret_cast<std::uintptr_t>(&group) | (group_ & zero_fill_bit);
    }

    // From now on, new chunks are filled with zeros. So a second execution of an event leaves the
    // same contents, also in bytes that the model does not write (for --check-rollback).
    void set_zero_fill() noexcept { group_ |= zero_fill_bit; }

    // True if a handler has written past a block into the head of another block of this LP. This
    // happens only if a handler runs out of order, or has a bug. Cost: one comparison per block.
    bool has_broken_heads() const noexcept;
    // Writes the heads of all blocks anew. Masks of free chunks are kept, without bits for chunks
    // that do not exist. A heap without tables is not checked, because no other block of the LP
    // precedes its only block.
    void repair_heads() noexcept;

    void validate() const;

  private:
    struct Bin;
    struct Tables;

    inline void* take_chunk(Block& block, std::size_t c) noexcept;
    inline void* take_from(Block& block, std::size_t c) noexcept;
    inline void* take_from(Tables& all, Bin& bin, std::size_t c) noexcept;
    void* allocate_elsewhere(std::size_t c) noexcept;
    bool make_large() noexcept;
    void* allocate_large(std::size_t bytes, std::size_t alignment) noexcept;
    void free_small(Block& block, unsigned chunk) noexcept;
    HeapFault locate(const void* address, Block*& block, unsigned& chunk) const noexcept;
    static void block_became_full(Bin& bin, Block& block) noexcept;
    static void set_vacancy(Bin& bin, std::uint32_t j, bool vacant) noexcept;
    static bool find_vacancy(Bin& bin) noexcept;
    // Returns all bins. If there are no tables, sets `lone` so that it describes the heap's only
    // block, and returns `lone`.
    std::span<Bin> bins(Bin& lone) const noexcept;
    GroupMemory& group() const noexcept {
        return *reinterpret_cast<GroupMemory*>(group_ & ~zero_fill_bit);
    }
    bool fills_with_zeros() const noexcept { return (group_ & zero_fill_bit) != 0; }
    // Null if the heap has no large chunks and at most one block of small chunks.
    Tables* tables() const noexcept {
        return (blocks_ & tables_bit) != 0 ? reinterpret_cast<Tables*>(blocks_ - tables_bit)
                                           : nullptr;
    }
    // Requires: there are no tables.
    Block* only() const noexcept { return reinterpret_cast<Block*>(blocks_ & ~chunks_in_use); }
    inline LargeBlocks* large() const noexcept;
    // Units of 16 bytes in small chunks.
    std::uint32_t used_units() const noexcept;
    std::size_t snapshot_bytes(std::span<const Bin> all, std::uint32_t units) const noexcept;
    // make_tables(), bin_for() and add_block() throw std::bad_alloc.
    Tables& make_tables(std::size_t bin_capacity);
    Bin& bin_for(Tables*& all, std::size_t c);
    Block* new_block(std::size_t c, std::uint32_t index) noexcept;
    bool add_block(Bin& bin, std::size_t c);
    Block head_of(std::size_t c, std::uint32_t index) noexcept;
    std::size_t class_of(const Tables& all, std::size_t b) const noexcept;
    void write_small(Snapshot& snapshot, std::size_t bytes, std::span<const Bin> all,
                     std::uint32_t units) const noexcept;
    void restore_bin(Bin& bin, std::uint32_t used, const std::byte*& image) noexcept;
    PlatformHeap& platform() const noexcept;

    // Two pointers whose low bits contain flags and a count. They are packed because every LP's
    // record contains them.
    static constexpr std::uintptr_t zero_fill_bit = 1;
    static constexpr std::uintptr_t tables_bit = 1;
    static constexpr std::uintptr_t chunk_in_use = 2;  // counts one chunk in use in the only block
    static constexpr std::uintptr_t chunks_in_use = 62;

    std::uintptr_t group_;  // pointer to GroupMemory, and zero_fill_bit
    // With tables_bit: pointer to Tables. Else: pointer to the only block of small chunks, or null,
    // and the number of its chunks in use.
    std::uintptr_t blocks_ = 0;
};
static_assert(sizeof(LpHeap) == 16);

}  // namespace nw
