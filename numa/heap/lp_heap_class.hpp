// LpHeap (lp_heap.hpp) for those who hold one and allocate nothing: without what its inline functions need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace nw {

class GroupMemory;
class LargeBlocks;
class PlatformHeap;
enum class HeapFault : std::uint8_t;
struct Block;
struct Snapshot;

class LpHeap {
  public:
    // It must stand in memory of the group, and stay there as long as that is.
    explicit LpHeap(GroupMemory& group) noexcept
        : group_(reinterpret_cast<std::uintptr_t>(&group)) {}
    LpHeap(const LpHeap&) = delete;
    LpHeap& operator=(const LpHeap&) = delete;

    // All return nullptr when the group's slot is full. Addresses are multiples of 16.
    inline void* allocate(std::size_t bytes) noexcept;  // in lp_heap.hpp
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
    inline bool owns(const void* address) const noexcept;  // in lp_heap.hpp
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
    Snapshot* take(PlatformHeap& memory, Snapshot* previous = nullptr);
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
    void adopt(GroupMemory& group) noexcept {
        group_ = reinterpret_cast<std::uintptr_t>(&group) | (group_ & zero_fill_bit);
    }

    // Fresh chunks are filled with zeros from now on, so that executing an event again leaves
    // equal bytes even where the model writes none (for --check-rollback).
    void set_zero_fill() noexcept { group_ |= zero_fill_bit; }

    // Whether a handler has written past a block into the head of another one. Only a handler that runs out of order, or
    // one that is wrong, does so. Cost: a comparison for each block.
    bool has_broken_heads() const noexcept;
    // Writes the heads of all blocks anew; what they said about free chunks stays as far as it can be true. The one block
    // of a heap without tables is behind no other block of its LP, and is not looked at.
    void mend_heads() noexcept;

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
    // All bins. Without tables it is `lone`, which becomes what the only block's would be.
    std::span<Bin> bins(Bin& lone) const noexcept;
    GroupMemory& group() const noexcept {
        return *reinterpret_cast<GroupMemory*>(group_ & ~zero_fill_bit);
    }
    bool fills_with_zeros() const noexcept { return (group_ & zero_fill_bit) != 0; }
    // Null while one block of small chunks, or none, is all there is.
    Tables* tables() const noexcept {
        return (blocks_ & tables_bit) != 0 ? reinterpret_cast<Tables*>(blocks_ - tables_bit)
                                           : nullptr;
    }
    // Requires: there are no tables.
    Block* only() const noexcept { return reinterpret_cast<Block*>(blocks_ & ~chunks_in_use); }
    inline LargeBlocks* large() const noexcept;
    // Of 16 bytes, in small chunks.
    std::uint32_t used_units() const noexcept;
    std::size_t snapshot_bytes(std::span<const Bin> all, std::uint32_t units) const noexcept;
    // Throw std::bad_alloc.
    Tables& make_tables(std::size_t bin_capacity);
    Bin& bin_for(Tables*& all, std::size_t c);
    Block* new_block(std::size_t c, std::uint32_t index) noexcept;
    bool add_block(Bin& bin, std::size_t c);
    Block head_of(std::size_t c, std::uint32_t index) noexcept;
    std::size_t class_of(const Tables& all, std::size_t b) const noexcept;
    void restore_bin(Bin& bin, std::uint32_t used, const std::byte*& image) noexcept;
    PlatformHeap& platform() const noexcept;

    // Two pointers, each with bits that say something of their own: every LP has this in its record.
    static constexpr std::uintptr_t zero_fill_bit = 1;
    static constexpr std::uintptr_t tables_bit = 1;
    static constexpr std::uintptr_t chunk_in_use = 2;  // times how many of the only block are
    static constexpr std::uintptr_t chunks_in_use = 62;

    std::uintptr_t group_;  // GroupMemory
    // The only Block, of small chunks, or null; with tables_bit, Tables.
    std::uintptr_t blocks_ = 0;
};
static_assert(sizeof(LpHeap) == 16);

}  // namespace nw
