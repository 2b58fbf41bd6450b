// SPDX-License-Identifier: Apache-2.0
#include "memory/region/libc_segments.hpp"

#include <cstdlib>
#include <cstring>

#include "memory/handler/heap_scope.hpp"
#include "util/check.hpp"

namespace nw {

constinit std::atomic<std::atomic<std::uint64_t>*>
    detail::libc_segment_leaves[detail::libc_leaves]{};

namespace {

using Leaf = std::atomic<std::uint64_t>;

constexpr std::size_t granule_bytes = std::size_t{1} << LibcSegments::granule_shift;
constexpr std::size_t leaf_granules = std::size_t{1}
                                      << (detail::libc_leaf_shift - LibcSegments::granule_shift);
constexpr std::size_t leaf_bytes = leaf_granules / 8;

// The Os that the existing LibcSegments object uses to allocate leaves.
constinit std::atomic<Os*> leaf_source{nullptr};

// Requires: the leaves exist.
void mark(void* base, std::size_t bytes, bool on) noexcept {
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(base) / granule_bytes;
    for (std::uintptr_t g = first; g < first + bytes / granule_bytes; ++g) {
        Leaf* leaf = detail::libc_segment_leaves[g / leaf_granules].load(std::memory_order_acquire);
        const std::uint64_t bit = std::uint64_t{1} << (g % 64);
        Leaf& word = leaf[g % leaf_granules / 64];
        // A thread needs the bits of a segment only if it has received an address in this segment,
        // and the transfer of the address orders the accesses. Neighboring bits of the word belong
        // to other workers.
        if (on)
            word.fetch_or(bit, std::memory_order_relaxed);
        else
            word.fetch_and(~bit, std::memory_order_relaxed);
    }
}

}  // namespace

LibcSegments::LibcSegments(Os& os) {
    NW_CHECK(leaf_source.load() == nullptr);
    leaf_source.store(&os);
}

LibcSegments::~LibcSegments() {
    Os* os = leaf_source.exchange(nullptr);
    // free() must not read a leaf after its release, not even a free() inside of unreserve().
    for (auto& leaf : detail::libc_segment_leaves)
        if (Leaf* gone = leaf.exchange(nullptr)) os->unreserve(gone, leaf_bytes);
}

// Allocates the missing leaves. Returns false if there is no memory for them.
bool LibcSegments::make_leaves(std::uintptr_t first, std::uintptr_t last) noexcept {
    for (std::uintptr_t i = first >> detail::libc_leaf_shift; i <= last >> detail::libc_leaf_shift;
         ++i) {
        if (i >= detail::libc_leaves) return false;
        auto& place = detail::libc_segment_leaves[i];
        if (place.load(std::memory_order_acquire) != nullptr) continue;
        Os& os = *leaf_source.load();
        void* fresh = nullptr;
        if (os.reserve(nullptr, leaf_bytes, fresh) != 0) return false;
        if (os.set_access(fresh, leaf_bytes, Access::write) != 0) {
            os.unreserve(fresh, leaf_bytes);
            return false;
        }
        Leaf* none = nullptr;
        if (!place.compare_exchange_strong(none, static_cast<Leaf*>(fresh)))
            os.unreserve(fresh, leaf_bytes);  // another worker has made this leaf
    }
    return true;
}

void* LibcSegments::allocate(std::size_t bytes) noexcept {
    const PlatformScope platform;
    void* const base = std::aligned_alloc(granule_bytes, bytes);
    if (base == nullptr) return nullptr;
    const auto first = reinterpret_cast<std::uintptr_t>(base);
    if (!make_leaves(first, first + bytes - 1)) {
        std::free(base);
        return nullptr;
    }
    mark(base, bytes, true);
    return base;
}

void LibcSegments::release(void* base, std::size_t bytes) noexcept {
    const PlatformScope platform;
    mark(base, bytes, false);
    // The next user of this memory must not find the magic number of a span (state_spans.hpp).
    ::explicit_bzero(base, sizeof(std::uint64_t));
    std::free(base);
}

void* LibcSegments::allocate_unlisted(std::size_t bytes) noexcept {
    const PlatformScope platform;
    return std::aligned_alloc(page_bytes, bytes);
}

void LibcSegments::release_unlisted(void* base) noexcept {
    const PlatformScope platform;
    std::free(base);
}

}  // namespace nw
