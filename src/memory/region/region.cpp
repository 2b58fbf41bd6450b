// SPDX-License-Identifier: Apache-2.0
#include "memory/region/region.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "memory/handler/fault_guard.hpp"
#include "memory/region/bad_address.hpp"
#include "memory/region/slot_layout.hpp"
#include "util/check.hpp"
#include "util/number_text.hpp"

namespace nw {

constinit detail::RegionBounds detail::region_bounds;

namespace {

// The region that is_open() reads. Written together with the bounds.
constinit std::atomic<const Region*> the_region{nullptr};

constexpr std::size_t unit_bytes = std::size_t{64} << 10;

// The mapping of a destroyed region whose addresses stay reserved. Written by the main thread while
// no worker runs.
struct Retired {
    Os* os = nullptr;
    void* mapping = nullptr;
    std::size_t bytes = 0;
};
constinit Retired retired;

void release_retired() noexcept {
    if (retired.os == nullptr) return;
    detail::region_bounds.bytes.store(0, std::memory_order_release);
    retired.os->unreserve(retired.mapping, retired.bytes);
    retired = {};
}

}  // namespace

bool Region::is_retired() noexcept { return retired.os != nullptr; }

Region::Region(Os& os, std::uint32_t groups) : os_(os), groups_(groups) {
    NW_CHECK(groups >= 1);
    FaultGuard::describe_addresses_by(describe_bad_address);
    release_retired();
    NW_CHECK(detail::region_bounds.bytes == 0);
    const std::size_t bytes_min = std::bit_ceil(std::size_t{groups}) * huge_page_bytes;
    void* const wanted = reinterpret_cast<void*>(region_base);
    std::size_t bytes = region_bytes_wanted;
    Status refusal = 0;
    void* got = nullptr;
    for (; bytes >= bytes_min; bytes /= 2) {
        const Status status = os_.reserve(wanted, bytes, got);
        if (status == 0) break;
        if (refusal == 0) refusal = status;
    }
    // If the address space is limited, half of the available addresses are left to stacks,
    // libraries and libc's malloc.
    if (got != nullptr && refusal != 0 && bytes / 2 >= bytes_min) {
        os_.unreserve(got, bytes);
        bytes /= 2;
        got = nullptr;
        os_.reserve(wanted, bytes, got);
    }
    if (got == nullptr) {
        // The fixed address is in use. Within one rank, any other address is sufficient: only
        // memory that moves to another rank must have the same address there.
        for (bytes = region_bytes_wanted; bytes >= bytes_min; bytes /= 2)
            if (os_.reserve(nullptr, bytes + huge_page_bytes, got) == 0) break;
    }
    if (got == nullptr)
        throw MachineError("cannot reserve " + exact_bytes_text(bytes_min) +
                           " of address space for " + std::to_string(groups) +
                           " LP groups: " + std::strerror(refusal) +
                           "; raise `ulimit -v`, or use fewer groups (--lps-per-group), or "
                           "--memory libc");
    mapping_ = got;
    mapping_bytes_ = got == wanted ? bytes : bytes + huge_page_bytes;
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(got);
    base_ = (address + huge_page_bytes - 1) & ~(huge_page_bytes - 1);
    bytes_ = bytes;
    slot_shift_ =
        static_cast<unsigned>(std::countr_zero(bytes_ / std::bit_ceil(std::size_t{groups})));
    if (got != wanted)
        notices_.push_back("memory region: the fixed address is in use; " +
                           exact_bytes_text(bytes) + " reserved elsewhere");
    else if (refusal != 0)
        notices_.push_back("memory region: " + exact_bytes_text(bytes) +
                           " of address space instead of " + exact_bytes_text(region_bytes_wanted) +
                           " (" + std::strerror(refusal) + "): " + exact_bytes_text(slot_bytes()) +
                           " per group of LPs");
    open_units_ = std::make_unique<std::atomic<std::uint32_t>[]>(groups_);
    choose_grain();
    the_region.store(this, std::memory_order_relaxed);
    detail::region_bounds.base.store(base_, std::memory_order_relaxed);
    detail::region_bounds.bytes.store(bytes_, std::memory_order_release);
}

Region::~Region() {
    if (kept_mapped_) {
        retired = {&os_, mapping_, mapping_bytes_};
        the_region.store(nullptr, std::memory_order_relaxed);
        return;
    }
    detail::region_bounds.bytes.store(0, std::memory_order_release);
    the_region.store(nullptr, std::memory_order_relaxed);
    os_.unreserve(mapping_, mapping_bytes_);
}

// A separate slot has at most six mappings: its beginning, the two large areas of its mail, and the
// ranges between them. A slot whose mail is always open has two mappings, and so has a cell. A
// quarter of all mappings is left to the rest of the process. Half of the mappings that then remain
// are for closed ranges between segments.
void Region::choose_grain() {
    const std::size_t budget = os_.mappings_max() / 4 * 3;
    std::size_t taken = std::size_t{groups_} * 6;
    if (taken > budget) {
        slots_per_cell_ = 1;
        const auto mappings = [this] { return (groups_ / slots_per_cell_ + 1) * std::size_t{2}; };
        while (mappings() > budget * 2 / 3 && slots_per_cell_ < groups_) slots_per_cell_ *= 2;
        taken = mappings();
    }
    holes_left_ = static_cast<std::int64_t>(taken < budget ? (budget - taken) / 4 : 0);
}

std::size_t Region::open_slot(GroupId group, std::size_t open_bytes) noexcept {
    const std::span<std::byte> own = slot(group);
    if (slots_per_cell_ == 0) {
        if (!set_access(own.data(), open_bytes, true)) return 0;
        note_open(group, own.data() + open_bytes);
        return open_bytes;
    }
    // The first worker of a cell opens the open part of the whole cell. Otherwise every second slot
    // could have its own mapping while workers build their groups at the same time. Opening the
    // part twice is harmless.
    const std::uint32_t first = index(group) / slots_per_cell_ * slots_per_cell_;
    const std::uint32_t last = first + slots_per_cell_ - 1;
    const bool is_last = index(group) == last;
    if (open_units_[index(group)].load(std::memory_order_relaxed) == 0) {
        const std::span<std::byte> cell = slot(GroupId{first});
        const std::span<std::byte> end = slot(GroupId{last});
        const std::span<std::byte> mail = SlotLayout{end}.mail(MailBufferId::a, MailArea::large);
        if (!set_access(cell.data(),
                        static_cast<std::size_t>(end.data() - cell.data()) + open_bytes, true) ||
            !set_access(mail.data(), 2 * mail.size(), true))
            return 0;
        for (std::uint32_t g = first; g < std::min(last, groups_); ++g)
            note_open(GroupId{g}, slot(GroupId{g}).data() + slot_bytes());
        // The owner of the last group may run at the same time and may already have opened more.
        std::uint32_t none = 0;
        if (last < groups_)
            open_units_[last].compare_exchange_strong(
                none, static_cast<std::uint32_t>((open_bytes + unit_bytes - 1) / unit_bytes),
                std::memory_order_relaxed);
    }
    return is_last ? open_bytes : slot_bytes();
}

void Region::note_open(GroupId group, const std::byte* end) noexcept {
    const auto bytes = static_cast<std::size_t>(end - slot(group).data());
    open_units_[index(group)].store(
        static_cast<std::uint32_t>((bytes + unit_bytes - 1) / unit_bytes),
        std::memory_order_relaxed);
}

bool Region::is_open(const void* address) noexcept {
    const Region* const region = the_region.load(std::memory_order_relaxed);
    if (region == nullptr) return false;
    const GroupId group = region->group_of(address);
    if (index(group) >= region->groups_) return false;
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) -
                                                 region->slot(group).data());
    return offset / unit_bytes < region->open_units_[index(group)].load(std::memory_order_relaxed);
}

bool Region::take_hole() noexcept {
    if (holes_left_.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
    give_hole();
    return false;
}

void Region::validate() const {
    NW_CHECK(detail::region_bounds.base.load() == base_);
    NW_CHECK(detail::region_bounds.bytes.load() == bytes_);
    NW_CHECK(base_ % huge_page_bytes == 0);
    NW_CHECK(slot_bytes() >= huge_page_bytes);
    NW_CHECK(slot_bytes() <= bytes_ / groups_);
    NW_CHECK(base_ >= reinterpret_cast<std::uintptr_t>(mapping_));
    NW_CHECK(base_ + bytes_ <= reinterpret_cast<std::uintptr_t>(mapping_) + mapping_bytes_);
}

}  // namespace nw
