#include "numa/outside_pointers.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include <link.h>
#include <pthread.h>

#include "numa/region.hpp"

namespace nw {
namespace {

// The executable is the first that is called, which says that it goes on with no other.
template <class Visit>
void visit_executable(Visit visit) noexcept {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            (*static_cast<Visit*>(data))(*info);
            return 1;
        },
        &visit);
}

}  // namespace

std::uint64_t AddressMap::program_shift() noexcept {
    std::uint64_t shift = 0;
    visit_executable([&](const dl_phdr_info& info) { shift = info.dlpi_addr; });
    return shift;
}

AddressRange own_stack() noexcept {
    AddressRange stack;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
    void* begin = nullptr;
    std::size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
        stack.begin = reinterpret_cast<std::uint64_t>(begin);
        stack.end = stack.begin + bytes;
    }
    pthread_attr_destroy(&attributes);
    return stack;
}

AddressMap::AddressMap(std::vector<AddressRange> stacks) : stacks_(std::move(stacks)) {
    visit_executable([&](const dl_phdr_info& info) {
        for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
            const auto& part = info.dlpi_phdr[i];
            if (part.p_type != PT_LOAD) continue;
            const std::uint64_t begin = info.dlpi_addr + part.p_vaddr;
            program_.push_back({begin, begin + part.p_memsz});
        }
    });
    std::ifstream file("/proc/self/maps");
    std::uint64_t begin = 0, end = 0;
    char dash = 0;
    std::string rest;
    while (file >> std::hex >> begin >> dash >> end && std::getline(file, rest))
        if (!Region::contains(reinterpret_cast<const void*>(begin))) other_.push_back({begin, end});
    const auto by_address = [](const AddressRange& a, const AddressRange& b) {
        return a.begin < b.begin;
    };
    std::sort(program_.begin(), program_.end(), by_address);
    std::sort(other_.begin(), other_.end(), by_address);
    std::sort(stacks_.begin(), stacks_.end(), by_address);
    // Without the kernel's page for system calls, at the very end of all addresses.
    constexpr std::uint64_t user_end = std::uint64_t{1} << 47;
    lowest_ = other_.empty() ? 0 : other_.front().begin;
    for (const AddressRange& range : other_)
        if (range.end <= user_end) highest_ = std::max(highest_, range.end);
    if (!program_.empty()) lowest_ = std::min(lowest_, program_.front().begin);
}

bool AddressMap::holds(const std::vector<AddressRange>& ranges, std::uint64_t word) noexcept {
    const auto after =
        std::upper_bound(ranges.begin(), ranges.end(), word,
                         [](std::uint64_t w, const AddressRange& r) { return w < r.begin; });
    return after != ranges.begin() && word < (after - 1)->end;
}

PointsTo AddressMap::look_up(std::uint64_t word) const noexcept {
    if (word < lowest_ || word >= highest_) return PointsTo::nothing;
    if (holds(program_, word)) return PointsTo::program;
    // Without address randomisation libc's heap follows the program: many a number lies there.
    constexpr std::uint64_t numbers_end = std::uint64_t{1} << 32;
    if (word < numbers_end && word % alignof(std::uint64_t) != 0) return PointsTo::nothing;
    return holds(other_, word) && !holds(stacks_, word) ? PointsTo::other : PointsTo::nothing;
}

void for_each_outside_pointer(
    const LpHeap& heap, const AddressMap& map,
    const std::function<void(std::uint64_t* word, PointsTo points_to)>& visit) {
    heap.for_each_chunk([&](std::byte* chunk, std::size_t bytes) {
        auto* const words = reinterpret_cast<std::uint64_t*>(chunk);
        for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) {
            const PointsTo points_to = map.look_up(words[i]);
            if (points_to != PointsTo::nothing) visit(&words[i], points_to);
        }
    });
}

namespace {

// A word may be anybody's, and may be changed by a thread of a library just now.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] std::uint64_t words_into_region(
    std::uintptr_t begin, std::size_t bytes) noexcept {
    constexpr std::size_t step = sizeof(std::uintptr_t);
    const auto own = reinterpret_cast<std::uintptr_t>(&detail::region_bounds);
    std::uint64_t count = 0;
    const std::uintptr_t end = begin + bytes;
    for (begin = (begin + step - 1) / step * step; begin + step <= end; begin += step) {
        if (begin >= own && begin < own + sizeof detail::region_bounds) continue;
        const void* const word = *reinterpret_cast<void* const volatile*>(begin);
        // Two small numbers side by side may look like an address of the region, of which little is used.
        if (Region::contains(word) && Region::is_open(word)) ++count;
    }
    return count;
}

int look_at_module(dl_phdr_info* module, std::size_t, void* found) {
    std::uint64_t words = 0;
    for (unsigned i = 0; i < module->dlpi_phnum; ++i) {
        const auto& part = module->dlpi_phdr[i];
        if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0)
            words += words_into_region(module->dlpi_addr + part.p_vaddr, part.p_memsz);
        if (part.p_type == PT_TLS && module->dlpi_tls_data != nullptr)
            words += words_into_region(reinterpret_cast<std::uintptr_t>(module->dlpi_tls_data),
                                       part.p_memsz);
    }
    if (words == 0) return 0;
    std::string name = module->dlpi_name;
    name.erase(0, name.rfind('/') + 1);
    static_cast<std::vector<PointersFromOutside>*>(found)->push_back(
        {name.empty() ? "the program" : name, words});
    return 0;
}

}  // namespace

std::vector<PointersFromOutside> find_pointers_from_outside() {
    std::vector<PointersFromOutside> found;
    dl_iterate_phdr(look_at_module, &found);
    return found;
}

}  // namespace nw
