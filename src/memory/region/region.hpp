// SPDX-License-Identifier: Apache-2.0
// The address range of all LPs. It is at the same address in every rank, and it is divided into one
// slot per group. The group that owns an address is computed from the address. A pointer from an
// LP's state to the same state is also valid in a snapshot, after a restart and on another rank.
//
// The region is closed (PROT_NONE), except for the memory that was handed out and a little more. So
// a walk along a broken list ends in a SIGSEGV, as in any other program, and does not use up the
// machine's memory. Two parts of a slot are open. The first part is the beginning of the slot: the
// segments and some slack (segments.hpp). The second part is at the end of the slot: the part of
// the mail areas that the mail needs (mail_pages.hpp).
//
// A new mapping begins at each address at which the access rights change, and a process may have
// 65,530 mappings (vm.max_map_count). One mapping per segment would be too many. With very many
// groups, even two mappings per slot are too many. In this case, slots form *cells* of 2, 4, 8, …
// neighbors. Only the last slot of a cell has a closed part, and a walk along a broken list ends at
// the end of the cell. The number of groups determines which part is closed:
//
//     groups (with 65,530 mappings)   closed
//     … 8,191                         in each slot, the part that segments and mail do not need
//     … 16,381                        in each slot, the part that segments do not need
//     more                            the part of a cell's last slot that segments do not need
//
// Thread: the main thread builds and destroys the object; any thread may call the other functions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"

namespace nw {

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer has shadow memory only for addresses below 0x80'0000'0000 (and for high addresses
// that the kernel chooses itself).
inline constexpr std::uintptr_t region_base = 0x10'0000'0000;
inline constexpr std::size_t region_bytes_wanted = std::size_t{256} << 30;
#elif defined(__SANITIZE_ADDRESS__)
// The heap of AddressSanitizer is at 0x6000'0000'0000.
inline constexpr std::uintptr_t region_base = 0x2000'0000'0000;
inline constexpr std::size_t region_bytes_wanted = std::size_t{32} << 40;
#else
// The region is above programs, which may be loaded at any address below 0x5656'0000'0000. It is
// below shared libraries and stacks, which are above 0x7E00'0000'0000. At lower addresses, Open MPI
// 5 maps memory that ranks share with their launcher. This memory is in the middle of the addresses
// that are free in the launcher, and so at another place in each launch. Therefore the size that
// can be reserved at lower addresses would differ between the launches of a saved run.
inline constexpr std::uintptr_t region_base = 0x5800'0000'0000;
inline constexpr std::size_t region_bytes_wanted = std::size_t{32} << 40;
#endif

namespace detail {
// Region::contains() reads these values, in any thread that frees memory. The values are written
// when the only Region of the process is built and destroyed, while threads of libraries may run.
// During this time, an address outside of the region must not appear to be inside. Therefore `base`
// is written before `bytes` is set, and keeps its value when `bytes` is reset to 0.
struct RegionBounds {
    std::atomic<std::size_t> bytes{0};  // 0: no region. store(release), load(acquire)
    std::atomic<std::uintptr_t> base{0};
};
extern constinit RegionBounds region_bounds;
}  // namespace detail

class Region {
  public:
    // Falls back to smaller sizes, then to another address, and reports this in notices(). Throws
    // MachineError if less than 2 MiB per group can be reserved. Requires: groups ≥ 1; no other
    // Region in this process.
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
    // Requires: contains(address). The result may be ≥ groups() for addresses behind the last slot.
    GroupId group_of(const void* address) const noexcept {
        return GroupId{static_cast<std::uint32_t>(
            (reinterpret_cast<std::uintptr_t>(address) - base_) >> slot_shift_)};
    }

    // True for an address in the region of this process, if there is one.
    static bool contains(const void* address) noexcept {
        const std::size_t bytes = detail::region_bounds.bytes.load(std::memory_order_acquire);
        return reinterpret_cast<std::uintptr_t>(address) -
                   detail::region_bounds.base.load(std::memory_order_relaxed) <
               bytes;
    }

    // Whether the page of the address is in the open beginning of its slot, and so may be accessed.
    // Closed ranges between segments, and mail areas, are not considered.
    // Requires: contains(address).
    static bool is_open(const void* address) noexcept;

    // --- access; called by the group's owner ---

    // Slots per cell; 0: every slot is separate, and its large mail areas are closed.
    std::uint32_t slots_per_cell() const noexcept { return slots_per_cell_; }
    bool has_closed_mail() const noexcept { return slots_per_cell_ == 0; }
    // Opens the first `open_bytes` bytes of the slot, or, if slots form cells, the open part of the
    // slot's cell. Returns how many bytes at the beginning of the slot are open; 0 if the kernel
    // refuses.
    std::size_t open_slot(GroupId group, std::size_t open_bytes) noexcept;
    // Opens or closes whole pages of a slot. Requires: the slot is not always open, and the caller
    // owns the pages. Pages of mail belong to the holder of their buffer, other pages to the owner
    // of the group.
    bool set_access(void* address, std::size_t bytes, bool open) noexcept {
        return os_.set_access(address, bytes, open ? Access::write : Access::none) == 0;
    }
    // Stores that the slot's beginning is open up to `end`, for is_open().
    void note_open(GroupId group, const std::byte* end) noexcept;
    // Reserves two mappings for one more closed range between open ranges. Returns false if no
    // mappings are left. give_hole() returns the two mappings; force_hole() reserves them in any
    // case.
    bool take_hole() noexcept;
    void force_hole() noexcept { holes_left_.fetch_sub(1, std::memory_order_relaxed); }
    void give_hole() noexcept { holes_left_.fetch_add(1, std::memory_order_relaxed); }

    // Keeps the addresses reserved after the destruction of this object, until another region is
    // built. Called if something outside of the LPs still points to memory that LPs allocated. The
    // contents are lost, and free() ignores these addresses.
    void keep_mapped() noexcept { kept_mapped_ = true; }
    // Whether a region was destroyed, and its addresses are still reserved.
    static bool is_retired() noexcept;

    // Whether less address space was reserved than region_bytes_wanted.
    bool limited() const noexcept { return bytes_ < region_bytes_wanted; }

    // One line per fallback: the wanted and the actual memory.
    const std::vector<std::string>& notices() const noexcept { return notices_; }

    void validate() const;

  private:
    void choose_grain();

    Os& os_;
    bool kept_mapped_ = false;
    void* mapping_ = nullptr;  // as reserved; the slots begin at a multiple of 2 MiB in it
    std::size_t mapping_bytes_ = 0;
    std::uintptr_t base_ = 0;
    std::size_t bytes_ = 0;
    std::uint32_t groups_;
    unsigned slot_shift_ = 0;  // slot_bytes() == 2^slot_shift_, ≥ 2 MiB
    std::uint32_t slots_per_cell_ = 0;
    // Open part of each slot's beginning, in units of 64 KiB. The group's owner writes the entry of
    // the group. Any thread that describes a wrong address reads the entry. The accesses are
    // relaxed, because the entry is only a hint for error messages.
    std::unique_ptr<std::atomic<std::uint32_t>[]> open_units_;
    std::atomic<std::int64_t> holes_left_{0};
    std::vector<std::string> notices_;
};

}  // namespace nw
