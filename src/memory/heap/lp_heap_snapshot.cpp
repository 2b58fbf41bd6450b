// SPDX-License-Identifier: Apache-2.0
// Snapshots of an LP's heap: take, restore and compare. The three operations traverse the same
// layout (snapshot.hpp) in the same order; they differ in the treatment of each run of chunks in
// use.
#include <cstring>

#include "memory/heap/group_memory.hpp"
#include "memory/heap/large_blocks.hpp"
#include "memory/heap/lp_heap.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

constexpr std::size_t bin_table_bytes(std::size_t bins) noexcept { return (bins * 4 + 7) / 8 * 8; }

// Most states are small, so a loop over steps of 16 bytes is faster than a call of memcpy. Both
// addresses are multiples of 8; `bytes` is a multiple of 16.
inline void copy_chunks(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes > 128) {
        std::memcpy(to, from, bytes);
        return;
    }
    for (std::size_t i = 0; i < bytes; i += 16) std::memcpy(to + i, from + i, 16);
}

// Calls visit(offset, bytes) for each run of adjacent chunks in `used`, until visit() returns
// false.
template <class Visit>
inline bool for_each_run(std::uint64_t used, std::size_t chunk_bytes, Visit visit) noexcept {
    while (used != 0) {
        const unsigned first = static_cast<unsigned>(std::countr_zero(used));
        const unsigned count = static_cast<unsigned>(std::countr_one(used >> first));
        if (!visit(first * chunk_bytes, count * chunk_bytes)) return false;
        if (first + count == 64) break;
        used &= ~std::uint64_t{0} << (first + count);
    }
    return true;
}

// Writes the mask and the chunks in use of a block. Returns the end of the image.
inline std::byte* write_block(std::byte* image, const Block& block) noexcept {
    std::memcpy(image, &block.free_mask, sizeof block.free_mask);
    image += sizeof block.free_mask;
    for_each_run(block.full_mask() & ~block.free_mask, small_classes[block.small_class].bytes,
                 [&](std::size_t offset, std::size_t run) {
                     copy_chunks(image, block.data() + offset, run);
                     image += run;
                     return true;
                 });
    return image;
}

inline std::uint64_t read_mask(const std::byte*& image) noexcept {
    std::uint64_t mask = 0;
    std::memcpy(&mask, image, sizeof mask);
    image += sizeof mask;
    return mask;
}

}  // namespace

std::size_t LpHeap::snapshot_bytes() const noexcept {
    Bin lone;
    return snapshot_bytes(bins(lone), used_units());
}

std::size_t LpHeap::snapshot_bytes(std::span<const Bin> all, std::uint32_t units) const noexcept {
    std::size_t blocks = 0;
    for (const Bin& bin : all) blocks += bin.used;
    return sizeof(Snapshot) + bin_table_bytes(all.size()) + blocks * sizeof(std::uint64_t) +
           std::size_t{units} * 16 + (large() != nullptr ? large()->image_bytes() : 0);
}

// Writes a snapshot of `bytes` bytes, except for its large chunks.
void LpHeap::write_small(Snapshot& snapshot, std::size_t bytes, std::span<const Bin> all,
                         std::uint32_t units) const noexcept {
    snapshot = {bytes, 0, units, 0, static_cast<std::uint32_t>(all.size())};
    auto* const table = reinterpret_cast<std::uint32_t*>(&snapshot + 1);
    auto* image = reinterpret_cast<std::byte*>(table) + bin_table_bytes(all.size());
    for (std::size_t b = 0; b < all.size(); ++b) {
        const Bin& bin = all[b];
        table[b] = bin.used;
        for (std::uint32_t j = 0; j < bin.used; ++j) image = write_block(image, *bin.block(j));
    }
    snapshot.large_offset =
        static_cast<std::size_t>(image - reinterpret_cast<std::byte*>(&snapshot));
}

Snapshot* LpHeap::take(PlatformHeap& memory, Snapshot* previous, std::size_t head_bytes) {
    if (has_broken_heads()) [[unlikely]]
        repair_heads();
    Bin lone;
    const std::span<Bin> all = bins(lone);
    const std::uint32_t units = used_units();
    const std::size_t bytes = snapshot_bytes(all, units);
    auto* const buffer = static_cast<std::byte*>(memory.allocate(head_bytes + bytes));
    meter_memory<MeterKind::snapshots>(buffer, head_bytes + bytes);
    auto* const snapshot = reinterpret_cast<Snapshot*>(buffer + head_bytes);
    write_small(*snapshot, bytes, all, units);
    if (large() != nullptr && large()->live_count() != 0) {
        snapshot->large_count = large()->live_count();
        large()->write_images(*snapshot, previous, memory);
    }
    return snapshot;
}

std::size_t LpHeap::write_if_small(std::byte* buffer, std::size_t limit) const noexcept {
    auto& snapshot = *reinterpret_cast<Snapshot*>(buffer);
    const std::uint32_t units = used_units();
    if (tables() == nullptr && only() != nullptr) [[likely]] {
        constexpr std::size_t fixed_bytes =
            sizeof(Snapshot) + bin_table_bytes(1) + sizeof(std::uint64_t);
        const std::size_t bytes = fixed_bytes + std::size_t{units} * 16;
        if (bytes > limit) return 0;
        snapshot = {bytes, bytes, units, 0, 1};
        auto* const table = reinterpret_cast<std::uint32_t*>(&snapshot + 1);
        *table = 1;
        write_block(reinterpret_cast<std::byte*>(table) + bin_table_bytes(1), *only());
        return bytes;
    }
    if ((large() != nullptr && large()->live_count() != 0) || has_broken_heads()) return 0;
    Bin lone;
    const std::span<const Bin> all = bins(lone);
    const std::size_t bytes = snapshot_bytes(all, units);
    if (bytes > limit) return 0;
    write_small(snapshot, bytes, all, units);
    return bytes;
}

void LpHeap::drop(Snapshot* snapshot, PlatformHeap& memory, std::size_t head_bytes) noexcept {
    if (snapshot->large_count != 0) LargeBlocks::drop_images(*snapshot, memory);
    memory.free(reinterpret_cast<std::byte*>(snapshot) - head_bytes, head_bytes + snapshot->bytes);
}

void LpHeap::restore(const Snapshot& snapshot) noexcept {
    if (has_broken_heads()) [[unlikely]]
        repair_heads();
    const auto* const table = reinterpret_cast<const std::uint32_t*>(&snapshot + 1);
    const auto* image =
        reinterpret_cast<const std::byte*>(table) + bin_table_bytes(snapshot.bin_count);
    Bin lone;
    const std::span<Bin> all = bins(lone);
    for (std::size_t b = 0; b < all.size(); ++b)
        restore_bin(all[b], b < snapshot.bin_count ? table[b] : 0, image);
    if (Tables* const made = tables())
        made->used_units = static_cast<std::uint32_t>(snapshot.used_units);
    else if (Block* const block = only())
        blocks_ = reinterpret_cast<std::uintptr_t>(block) +
                  snapshot.used_units * 16 / small_classes[block->small_class].bytes * chunk_in_use;
    if (large() != nullptr) large()->restore_images(group().spans(), snapshot);
}

// Restores the first `used` blocks from the image. The other blocks were first used after the
// snapshot, and become empty.
void LpHeap::restore_bin(Bin& bin, std::uint32_t used, const std::byte*& image) noexcept {
    bin.current = nullptr;
    bin.search_from = used;
    for (std::uint32_t j = 0; j < used; ++j) {
        Block& block = *bin.block(j);
        std::byte* const data = block.data();
        block.free_mask = read_mask(image);
        set_vacancy(bin, j, block.free_mask != 0);
        if (block.free_mask != 0 && bin.current == nullptr) bin.current = &block;
        for_each_run(block.full_mask() & ~block.free_mask, small_classes[block.small_class].bytes,
                     [&](std::size_t offset, std::size_t run) {
                         copy_chunks(data + offset, image, run);
                         image += run;
                         return true;
                     });
    }
    for (std::uint32_t j = used; j < bin.used; ++j) {
        Block& block = *bin.block(j);
        block.free_mask = block.full_mask();
        set_vacancy(bin, j, true);
    }
    bin.used = used;
}

bool LpHeap::equals(const Snapshot& snapshot) const noexcept {
    const auto* const table = reinterpret_cast<const std::uint32_t*>(&snapshot + 1);
    const auto* image =
        reinterpret_cast<const std::byte*>(table) + bin_table_bytes(snapshot.bin_count);
    if (used_units() != snapshot.used_units) return false;
    Bin lone;
    const std::span<Bin> all = bins(lone);
    for (std::uint32_t b = 0; b < snapshot.bin_count; ++b) {
        for (std::uint32_t j = 0; j < table[b]; ++j) {
            const Block& block = *all[b].block(j);
            if (block.free_mask != read_mask(image)) return false;
            const bool same = for_each_run(
                block.full_mask() & ~block.free_mask, small_classes[block.small_class].bytes,
                [&](std::size_t offset, std::size_t run) {
                    const bool equal = std::memcmp(block.data() + offset, image, run) == 0;
                    image += run;
                    return equal;
                });
            if (!same) return false;
        }
    }
    // The masks of these blocks are equal, and the total of used units is equal. So all other
    // blocks are empty.
    if (large() == nullptr) return snapshot.large_count == 0;
    return large()->equals_images(snapshot);
}

void LpHeap::for_each_saved_chunk(const Snapshot& snapshot, const VisitSaved& visit) const {
    const auto* const table = reinterpret_cast<const std::uint32_t*>(&snapshot + 1);
    const auto* image =
        reinterpret_cast<const std::byte*>(table) + bin_table_bytes(snapshot.bin_count);
    Bin lone;
    const std::span<Bin> all = bins(lone);
    for (std::uint32_t b = 0; b < snapshot.bin_count; ++b) {
        for (std::uint32_t j = 0; j < table[b]; ++j) {
            const Block& block = *all[b].block(j);
            const std::size_t bytes = small_classes[block.small_class].bytes;
            const std::uint64_t free_mask = read_mask(image);
            for (std::uint64_t used = block.full_mask() & ~free_mask; used != 0; used &= used - 1) {
                visit(block.data() + static_cast<unsigned>(std::countr_zero(used)) * bytes, bytes,
                      image);
                image += bytes;
            }
        }
    }
    if (large() != nullptr) large()->for_each_saved_chunk(snapshot, visit);
}

}  // namespace nw
