// The one address space of all LPs: a single mapping at the same address in every rank, cut into
// one slot a group. Whose memory an address is follows by arithmetic; a pointer inside an LP's
// state means the same in a snapshot, after a restart and on another rank.
//
// One mapping, because a mapping a segment would soon hit vm.max_map_count (65,530): pages come and
// go by first touch and discard, placement by the thread's memory policy and move_pages.
//
// Built and destroyed by the main thread; everything else is read-only and safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os.hpp"

namespace nw {

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer has shadow memory only for addresses below 0x80'0000'0000 (and high ones that the
// kernel hands out itself).
inline constexpr std::uintptr_t region_base = 0x10'0000'0000;
inline constexpr std::size_t region_bytes_wanted = std::size_t{256} << 30;
#else
inline constexpr std::uintptr_t region_base = 0x2000'0000'0000;
inline constexpr std::size_t region_bytes_wanted = std::size_t{32} << 40;
#endif

namespace detail {
// What Region::contains reads; written when the one Region of the process is built and destroyed.
struct RegionBounds {
    std::uintptr_t base = 0;
    std::size_t bytes = 0;  // 0: there is no region
};
extern constinit RegionBounds region_bounds;
}  // namespace detail

class Region {
  public:
    // Falls back to smaller sizes, then to another address, and says so in notices(). Throws
    // MachineError when not even 2 MiB a group can be had.
    // Requires: groups ≥ 1; no other Region in this process.
    Region(Os& os, std::uint32_t groups);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

    std::uintptr_t base() const noexcept { return base_; }
    std::size_t bytes() const noexcept { return bytes_; }
    std::uint32_t groups() const noexcept { return groups_; }
    std::size_t slot_bytes() const noexcept { return std::size_t{1} << slot_shift_; }

    // Requires: index(group) < groups().
    std::span<std::byte> slot(GroupId group) const noexcept {
        return {reinterpret_cast<std::byte*>(
                    base_ + (static_cast<std::uintptr_t>(index(group)) << slot_shift_)),
                slot_bytes()};
    }
    // Requires: contains(address). May be ≥ groups() for addresses behind the last slot.
    GroupId group_of(const void* address) const noexcept {
        return GroupId{static_cast<std::uint32_t>(
            (reinterpret_cast<std::uintptr_t>(address) - base_) >> slot_shift_)};
    }

    // True for an address in the region of this process, if there is one.
    static bool contains(const void* address) noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - detail::region_bounds.base <
               detail::region_bounds.bytes;
    }

    // Whether there was less address space than wanted.
    bool limited() const noexcept { return bytes_ < region_bytes_wanted; }

    // One line each: what was wanted, what came of it.
    const std::vector<std::string>& notices() const noexcept { return notices_; }

    void validate() const;

  private:
    Os& os_;
    void* mapping_ = nullptr;  // what the kernel gave; the slots lie in it at multiples of 2 MiB
    std::size_t mapping_bytes_ = 0;
    std::uintptr_t base_ = 0;
    std::size_t bytes_ = 0;
    std::uint32_t groups_;
    unsigned slot_shift_ = 0;  // slot_bytes() == 2^slot_shift_, ≥ 2 MiB
    std::vector<std::string> notices_;
};

}  // namespace nw
