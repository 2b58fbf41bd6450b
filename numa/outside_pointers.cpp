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

}  // namespace nw
