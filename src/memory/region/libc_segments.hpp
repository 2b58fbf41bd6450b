// SPDX-License-Identifier: Apache-2.0
// MemoryMode::libc: segments come from glibc's malloc. In MemoryMode::numa, a comparison with the
// bounds of the region shows whether an address can be in a segment. MemoryMode::libc uses a table
// instead, with one bit per 64 KiB of address space. The table consists of leaves for 64 GiB each,
// and a leaf is made when it is needed for a segment. (One table for the whole address space would
// take 256 MiB of addresses, more than `ulimit -v` may allow.)
//
// The workers that own the segments set and clear bits. Any thread reads them in free().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "numa/os/os.hpp"

namespace nw {

namespace detail {
inline constexpr unsigned libc_leaf_shift = 36;  // log2 of the address space per leaf
inline constexpr std::size_t libc_leaves = std::size_t{1} << (47 - libc_leaf_shift);
// The leaves of the only LibcSegments of the process; null where there is no segment.
extern constinit std::atomic<std::atomic<std::uint64_t>*> libc_segment_leaves[libc_leaves];
}  // namespace detail

class LibcSegments {
  public:
    static constexpr unsigned granule_shift = 16;
    static constexpr unsigned address_bits = 47;

    explicit LibcSegments(Os& os);
    ~LibcSegments();
    LibcSegments(const LibcSegments&) = delete;
    LibcSegments& operator=(const LibcSegments&) = delete;

    // Returns a segment for state, aligned to 64 KiB; nullptr if glibc has no memory. Requires:
    // bytes is a multiple of 64 KiB, so that a granule contains only one segment.
    static void* allocate(std::size_t bytes) noexcept;
    static void release(void* base, std::size_t bytes) noexcept;
    // A segment that is not in the table, aligned to a page.
    static void* allocate_unlisted(std::size_t bytes) noexcept;
    static void release_unlisted(void* base) noexcept;

    static bool contains(const void* address) noexcept {
        const std::uintptr_t a = reinterpret_cast<std::uintptr_t>(address);
        if ((a >> address_bits) != 0) return false;
        // Relaxed is sufficient: the thread received the address from a thread that has read the
        // leaf.
        const auto* leaf = detail::libc_segment_leaves[a >> detail::libc_leaf_shift].load(
            std::memory_order_relaxed);
        if (leaf == nullptr) return false;
        const std::uintptr_t granule =
            (a & ((std::uintptr_t{1} << detail::libc_leaf_shift) - 1)) >> granule_shift;
        return ((leaf[granule / 64].load(std::memory_order_relaxed) >> (granule % 64)) & 1) != 0;
    }

  private:
    static bool make_leaves(std::uintptr_t first, std::uintptr_t last) noexcept;
};

}  // namespace nw
