#include "numa/region.hpp"

#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace nw {

constinit detail::RegionBounds detail::region_bounds;

namespace {

std::string size_text(std::size_t bytes) {
    const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && bytes % 1024 == 0 && unit < 4) {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + " " + units[unit];
}

}  // namespace

Region::Region(Os& os, std::uint32_t groups) : os_(os), groups_(groups) {
    NW_CHECK(groups >= 1);
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
    // What is limited is left half to stacks, libraries and libc's malloc.
    if (got != nullptr && refusal != 0 && bytes / 2 >= bytes_min) {
        os_.unreserve(got, bytes);
        bytes /= 2;
        got = nullptr;
        os_.reserve(wanted, bytes, got);
    }
    if (got == nullptr) {
        // Something else lies at the fixed address. One rank can do without it: only pointers in
        // the memory of another rank would need it.
        for (bytes = region_bytes_wanted; bytes >= bytes_min; bytes /= 2)
            if (os_.reserve(nullptr, bytes + huge_page_bytes, got) == 0) break;
    }
    if (got == nullptr)
        throw MachineError("cannot reserve " + size_text(bytes_min) + " of address space for " +
                           std::to_string(groups) + " LP groups: " + std::strerror(refusal) +
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
        notices_.push_back("memory region: the fixed address is taken; " + size_text(bytes) +
                           " reserved elsewhere");
    else if (refusal != 0)
        notices_.push_back("memory region: " + size_text(bytes) + " of address space instead of " +
                           size_text(region_bytes_wanted) + " (" + std::strerror(refusal) +
                           "): " + size_text(slot_bytes()) + " a group of LPs");
    detail::region_bounds = {base_, bytes_};
}

Region::~Region() {
    detail::region_bounds = {};
    os_.unreserve(mapping_, mapping_bytes_);
}

void Region::validate() const {
    NW_CHECK(detail::region_bounds.base == base_);
    NW_CHECK(detail::region_bounds.bytes == bytes_);
    NW_CHECK(base_ % huge_page_bytes == 0);
    NW_CHECK(slot_bytes() >= huge_page_bytes);
    NW_CHECK(slot_bytes() <= bytes_ / groups_);
    NW_CHECK(base_ >= reinterpret_cast<std::uintptr_t>(mapping_));
    NW_CHECK(base_ + bytes_ <= reinterpret_cast<std::uintptr_t>(mapping_) + mapping_bytes_);
}

}  // namespace nw
