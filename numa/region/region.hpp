// The one address space of all LPs: at the same address in every rank, cut into one slot a group.
// Whose memory an address is follows by arithmetic; a pointer inside an LP's state means the same in
// a snapshot, after a restart and on another rank.
//
// It is closed (nobody may touch it) but for what was handed out and a little more, so that a walk
// along a broken list ends in a fault, as in any other program, and not in all of the machine's
// memory. What is open in a slot is its beginning, up to somewhat beyond what segments have taken
// (segments.hpp), and what its mail needs at the end (mail_pages.hpp).
//
// Each change of access is the border of a mapping, and a process may have 65,530 of them
// (vm.max_map_count): a mapping a segment would be too many. With very many groups even two for each
// slot are. Then slots form *cells* of 2, 4, 8, … neighbours, of which only the last has anything
// closed, and a walk ends at the end of the cell. That is the region's grain:
//
//     groups (with 65,530 mappings)   closed
//     … 8,191                         in each slot what its segments and its mail do not need
//     … 16,382                        in each slot what its segments do not need
//     more                            that of the last slot of each cell
//
// Built and destroyed by the main thread; everything else is safe from any thread.
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
// ThreadSanitizer has shadow memory only for addresses below 0x80'0000'0000 (and high ones that the
// kernel hands out itself).
inline constexpr std::uintptr_t region_base = 0x10'0000'0000;
inline constexpr std::size_t region_bytes_wanted = std::size_t{256} << 30;
#elif defined(__SANITIZE_ADDRESS__)
// AddressSanitizer has its heap at 0x6000'0000'0000.
inline constexpr std::uintptr_t region_base = 0x2000'0000'0000;
inline constexpr std::size_t region_bytes_wanted = std::size_t{32} << 40;
#else
// Between programs that are loaded at any address (below 0x5656'0000'0000) and shared libraries and stacks
// (above 0x7E00'0000'0000). Further down Open MPI 5 puts memory that ranks share with their launcher: in
// the middle of what its launcher has free there, another place each time, and a saved run would find
// another amount of room in each launch.
inline constexpr std::uintptr_t region_base = 0x5800'0000'0000;
inline constexpr std::size_t region_bytes_wanted = std::size_t{32} << 40;
#endif

namespace detail {
// What Region::contains reads, in any thread that frees something. Written when the one Region of the
// process is built and destroyed, while threads of libraries may be running: an address that is not
// the region's must not seem so meanwhile. So `base` is written before `bytes` becomes what it is, and
// stays when that is 0 again.
struct RegionBounds {
    std::atomic<std::size_t> bytes{0};  // 0: there is no region. Release; pairs with the acquires
    std::atomic<std::uintptr_t> base{0};
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
        const std::size_t bytes = detail::region_bounds.bytes.load(std::memory_order_acquire);
        return reinterpret_cast<std::uintptr_t>(address) -
                   detail::region_bounds.base.load(std::memory_order_relaxed) <
               bytes;
    }

    // Whether the page may be touched, as far as its slot's segments go: false for what lies behind
    // them. Closed ranges between segments, and mail, are not looked for.
    // Requires: contains(address).
    static bool is_open(const void* address) noexcept;

    // --- what is open; the group's owner says so ---

    // Slots a cell; 0: each slot is on its own, and so is its mail.
    std::uint32_t slots_per_cell() const noexcept { return slots_per_cell_; }
    bool has_closed_mail() const noexcept { return slots_per_cell_ == 0; }
    // Opens the slot's beginning, up to `open_bytes`, or the cell that the slot is in. Returns how
    // many bytes of the slot's beginning are open, 0 when the kernel refuses.
    std::size_t open_slot(GroupId group, std::size_t open_bytes) noexcept;
    // Opens or closes whole pages of a slot. Requires: of the group's, and not all of its slot is
    // open for good.
    bool set_access(void* address, std::size_t bytes, bool open) noexcept {
        return os_.set_access(address, bytes, open ? Access::write : Access::none) == 0;
    }
    // The slot's beginning is open up to here: for is_open().
    void note_open(GroupId group, const std::byte* end) noexcept;
    // Room for one more closed range between open ones: two mappings. What was taken is given back.
    bool take_hole() noexcept;
    void force_hole() noexcept { holes_left_.fetch_sub(1, std::memory_order_relaxed); }
    void give_hole() noexcept { holes_left_.fetch_add(1, std::memory_order_relaxed); }

    // Somebody outside still points to what LPs allocated: when the region goes, its addresses stay
    // taken until there is another region. What was there is gone, and what is freed there is not.
    void keep_mapped() noexcept { kept_mapped_ = true; }
    // Whether all that there is of a region is such a mapping.
    static bool is_retired() noexcept;

    // Whether there was less address space than wanted.
    bool limited() const noexcept { return bytes_ < region_bytes_wanted; }

    // One line each: what was wanted, what came of it.
    const std::vector<std::string>& notices() const noexcept { return notices_; }

    void validate() const;

  private:
    void choose_grain();

    Os& os_;
    bool kept_mapped_ = false;
    void* mapping_ = nullptr;  // what the kernel gave; the slots lie in it at multiples of 2 MiB
    std::size_t mapping_bytes_ = 0;
    std::uintptr_t base_ = 0;
    std::size_t bytes_ = 0;
    std::uint32_t groups_;
    unsigned slot_shift_ = 0;  // slot_bytes() == 2^slot_shift_, ≥ 2 MiB
    std::uint32_t slots_per_cell_ = 0;
    // How much of the beginning of each slot is open, in units of 64 KiB. The group's owner writes an
    // entry, and any thread that was given a wrong address reads it; relaxed, a hint for error messages.
    std::unique_ptr<std::atomic<std::uint32_t>[]> open_units_;
    std::atomic<std::int64_t> holes_left_{0};
    std::vector<std::string> notices_;
};

}  // namespace nw
