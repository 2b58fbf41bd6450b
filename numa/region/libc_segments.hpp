// MemoryMode::libc: segments out of glibc's malloc, and the answer to "is this address in a
// segment?", which the region gives by arithmetic and this mode has to look up: one bit for every
// 64 KiB of the address space, in leaves of 64 GiB each that are made where segments are. (One table
// for the whole address space would take 256 MiB of it, which `ulimit -v` may not leave.)
//
// Bits are set and cleared by the workers that own the segments and read by any thread in free().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "numa/os/os.hpp"

namespace nw {

namespace detail {
inline constexpr unsigned libc_leaf_shift = 36;  // bytes of address space that a leaf stands for
inline constexpr std::size_t libc_leaves = std::size_t{1} << (47 - libc_leaf_shift);
// The leaves of the one LibcSegments of the process; null where there is no segment.
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

    // A segment for state, aligned to 64 KiB; nullptr when glibc has none. Requires: bytes a
    // multiple of 64 KiB, so that nothing else shares its granules.
    static void* allocate(std::size_t bytes) noexcept;
    static void release(void* base, std::size_t bytes) noexcept;
    // A segment that nobody looks up, aligned to a page.
    static void* allocate_unlisted(std::size_t bytes) noexcept;
    static void release_unlisted(void* base) noexcept;

    static bool contains(const void* address) noexcept {
        const std::uintptr_t a = reinterpret_cast<std::uintptr_t>(address);
        if ((a >> address_bits) != 0) return false;
        // Whoever asks got the address from somebody who has seen the leaf: relaxed is enough.
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
