#include "numa/libc_segments.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "numa/heap_scope.hpp"

namespace nw {

constinit std::atomic<std::uint64_t>* detail::libc_segment_bits = nullptr;

namespace {

constexpr std::size_t granule_bytes = std::size_t{1} << LibcSegments::granule_shift;
constexpr std::size_t table_bytes =
    (std::size_t{1} << (LibcSegments::address_bits - LibcSegments::granule_shift)) / 8;

void mark(void* base, std::size_t bytes, bool on) noexcept {
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(base) / granule_bytes;
    for (std::uintptr_t g = first; g < first + bytes / granule_bytes; ++g) {
        const std::uint64_t bit = std::uint64_t{1} << (g % 64);
        std::atomic<std::uint64_t>& word = detail::libc_segment_bits[g / 64];
        // A segment's bits concern only threads that were handed an address in it, which orders
        // them; neighbours in the word are other workers'.
        if (on)
            word.fetch_or(bit, std::memory_order_relaxed);
        else
            word.fetch_and(~bit, std::memory_order_relaxed);
    }
}

}  // namespace

LibcSegments::LibcSegments(Os& os) : os_(os) {
    NW_CHECK(detail::libc_segment_bits == nullptr);
    void* table = nullptr;
    const Status status = os_.reserve(nullptr, table_bytes, table);
    if (status != 0)
        throw MachineError(std::string("--memory libc: cannot reserve 256 MiB of address space for "
                                       "the table of segments: ") +
                           std::strerror(status) + "; raise `ulimit -v`");
    detail::libc_segment_bits = static_cast<std::atomic<std::uint64_t>*>(table);
}

LibcSegments::~LibcSegments() {
    // free() must not look into the table once it is gone, not even a free() inside unreserve().
    os_.unreserve(std::exchange(detail::libc_segment_bits, nullptr), table_bytes);
}

void* LibcSegments::allocate(std::size_t bytes) noexcept {
    const PlatformScope platform;
    void* const base = std::aligned_alloc(granule_bytes, bytes);
    if (base != nullptr) mark(base, bytes, true);
    return base;
}

void LibcSegments::release(void* base, std::size_t bytes) noexcept {
    const PlatformScope platform;
    mark(base, bytes, false);
    // Whoever gets this memory next must not inherit the mark of a span (state_spans.hpp).
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
