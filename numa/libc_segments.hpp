// MemoryMode::libc: segments out of glibc's malloc, and the answer to "is this address in a
// segment?", which the region gives by arithmetic and this mode has to look up: one bit for every
// 64 KiB of the address space, in a table that is reserved whole and touched where bits are set.
//
// Bits are set and cleared by the workers that own the segments and read by any thread in free().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "numa/os.hpp"

namespace nw {

namespace detail {
// The table of the one LibcSegments of the process; null when there is none.
extern constinit std::atomic<std::uint64_t>* libc_segment_bits;
}  // namespace detail

class LibcSegments {
  public:
    static constexpr unsigned granule_shift = 16;
    static constexpr unsigned address_bits = 47;

    // Throws MachineError when the table (256 MiB of address space) cannot be reserved.
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
        const auto* bits = detail::libc_segment_bits;
        const std::uintptr_t a = reinterpret_cast<std::uintptr_t>(address);
        if (bits == nullptr || (a >> address_bits) != 0) return false;
        const std::uintptr_t granule = a >> granule_shift;
        return ((bits[granule / 64].load(std::memory_order_relaxed) >> (granule % 64)) & 1) != 0;
    }

  private:
    Os& os_;
};

}  // namespace nw
