// SPDX-License-Identifier: Apache-2.0
#include "memory/image/outside_pointers.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include <link.h>
#include <pthread.h>

#include "memory/heap/lp_heap.hpp"
#include "memory/region/region.hpp"

namespace nw {
namespace {

// The executable is visited first. The return value 1 ends the iteration.
template <class Visit>
void visit_executable(Visit visit) noexcept {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            (*static_cast<Visit*>(data))(*info);
            return 1;
        },
        &visit);
}

// Cost: for the main thread the C library reads all mappings of the process, and each slot may be a
// mapping.
AddressRange find_own_stack() noexcept {
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

}  // namespace

std::uint64_t AddressMap::program_shift() noexcept {
    std::uint64_t shift = 0;
    visit_executable([&](const dl_phdr_info& info) { shift = info.dlpi_addr; });
    return shift;
}

AddressRange own_stack() noexcept {
    thread_local const AddressRange stack = find_own_stack();
    return stack;
}

AddressMap::AddressMap(Os& os, std::vector<AddressRange> stacks) : stacks_(std::move(stacks)) {
    visit_executable([&](const dl_phdr_info& info) {
        for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
            const auto& part = info.dlpi_phdr[i];
            if (part.p_type != PT_LOAD) continue;
            const std::uint64_t begin = info.dlpi_addr + part.p_vaddr;
            program_.push_back({begin, begin + part.p_memsz});
        }
    });
    other_ = os.mappings();
    std::erase_if(other_, [](const AddressRange& range) {
        return Region::contains(reinterpret_cast<const void*>(range.begin));
    });
    const auto by_address = [](const AddressRange& a, const AddressRange& b) {
        return a.begin < b.begin;
    };
    std::sort(program_.begin(), program_.end(), by_address);
    std::sort(other_.begin(), other_.end(), by_address);
    std::sort(stacks_.begin(), stacks_.end(), by_address);
    // Excludes the kernel's page for system calls, which has the highest address of all.
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
    // Without address randomization, libc's heap follows the program. In this case many small
    // numbers are addresses in this heap.
    constexpr std::uint64_t numbers_end = std::uint64_t{1} << 32;
    constexpr std::uint64_t head_of_heap = 64;
    if (word < numbers_end && word % alignof(std::uint64_t) != 0) return PointsTo::nothing;
    // The word is probably a small number that was written over the lower half of an old pointer.
    // As an address, the word would be in the first bytes of a heap of libc. Such a heap often
    // begins at a multiple of 4 GiB.
    if (word % numbers_end < head_of_heap) return PointsTo::nothing;
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

// Reads this process's memory through the kernel, because a library may have made some pages
// inaccessible, and another thread may be writing at the same time.
class OwnMemory {
  public:
    explicit OwnMemory(Os& os) : os_(os) {}

    // Returns an empty span for a page that cannot be read. The span is valid until the next call.
    std::span<const std::uint64_t> read(std::uintptr_t address, std::size_t bytes) {
        const std::size_t got =
            os_.read_own_memory(address, words_.data(), std::min(bytes, sizeof words_));
        return {words_.data(), got / sizeof words_[0]};
    }

  private:
    Os& os_;
    std::array<std::uint64_t, 4096> words_;
};

void collect(OwnMemory& memory, std::uintptr_t begin, std::size_t bytes,
             std::vector<OutsideWord>& words) {
    constexpr std::size_t step = sizeof(std::uint64_t);
    const std::uintptr_t end = (begin + bytes) / step * step;
    const auto own = reinterpret_cast<std::uintptr_t>(&detail::region_bounds);
    const std::uintptr_t region = detail::region_bounds.base.load(std::memory_order_relaxed);
    const std::size_t region_bytes = detail::region_bounds.bytes.load(std::memory_order_relaxed);
    for (begin = (begin + step - 1) / step * step; begin < end;) {
        const std::span<const std::uint64_t> read = memory.read(begin, end - begin);
        for (const std::uint64_t& value : read) {
            if (value - region >= region_bytes) continue;
            const std::uintptr_t where =
                begin + static_cast<std::size_t>(&value - read.data()) * step;
            if (where >= own && where < own + sizeof detail::region_bounds) continue;
            words.push_back({reinterpret_cast<std::uint64_t*>(where), value});
        }
        begin = read.empty() ? (begin / page_bytes + 1) * page_bytes : begin + read.size_bytes();
    }
}

// Calls visit(module, words) for the program and each of its libraries.
template <class Visit>
void visit_words_of_modules(Os& os, Visit visit) {
    struct Look {
        Visit& visit;
        OwnMemory memory;
    } look{visit, OwnMemory(os)};
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* data) {
            Look& own = *static_cast<Look*>(data);
            std::vector<OutsideWord> words;
            for (unsigned i = 0; i < module->dlpi_phnum; ++i) {
                const auto& part = module->dlpi_phdr[i];
                if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0)
                    collect(own.memory, module->dlpi_addr + part.p_vaddr, part.p_memsz, words);
                if (part.p_type == PT_TLS && module->dlpi_tls_data != nullptr)
                    collect(own.memory, reinterpret_cast<std::uintptr_t>(module->dlpi_tls_data),
                            part.p_memsz, words);
            }
            own.visit(*module, std::move(words));
            return 0;
        },
        &look);
}

bool by_address(const OutsideWord& a, const OutsideWord& b) noexcept { return a.where < b.where; }

}  // namespace

OutsidePointerScan::OutsidePointerScan(Os& os) : os_(os) {
    visit_words_of_modules(os, [this](const dl_phdr_info&, const std::vector<OutsideWord>& words) {
        before_.insert(before_.end(), words.begin(), words.end());
    });
    std::sort(before_.begin(), before_.end(), by_address);
}

std::vector<PointersFromOutside> OutsidePointerScan::found() const {
    std::vector<PointersFromOutside> result;
    visit_words_of_modules(os_, [&](const dl_phdr_info& module,
                                    const std::vector<OutsideWord>& words) {
        const auto count = std::count_if(words.begin(), words.end(), [&](const OutsideWord& word) {
            const auto same = std::lower_bound(before_.begin(), before_.end(), word, by_address);
            if (same != before_.end() && same->where == word.where && same->value == word.value)
                return false;
            return Region::is_open(reinterpret_cast<const void*>(word.value));
        });
        if (count == 0) return;
        std::string name = module.dlpi_name;
        name.erase(0, name.rfind('/') + 1);
        result.push_back({name.empty() ? "the program" : name, static_cast<std::uint64_t>(count)});
    });
    return result;
}

}  // namespace nw
