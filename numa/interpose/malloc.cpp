// The malloc family of the whole program. Inside a handler (current_heap set) it means the LP's
// recoverable heap; in platform mode it means libc. free, realloc and malloc_usable_size decide by
// address.
//
// What may be freed where:
//   in a handler, memory of its own LP     — the rule
//   in a handler, memory of another LP     — refused, a heap fault (see heap_fault.hpp)
//   in a handler, memory of libc           — called by libc or libstdc++ themselves: theirs, freed
//                                            (stdio buffers, locales, time zones, exceptions);
//                                            called by anyone else: it is older than the run or
//                                            shared, and a rollback could not bring it back:
//                                            refused, a heap fault
//   in platform mode, memory of libc       — the rule
//   in platform mode, live memory of an LP — freed in that LP's heap: an exception that left a
//                                            handler ends this way. Only the group's owner thread
//                                            may do it, and before the LP is restored
//   in platform mode, anything else of ours — a bug of the engine: one line, exit code 1
//
// Linked into executables only, and not under sanitizers, which own malloc (new.cpp serves there).
#include <malloc.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "numa/heap_fault.hpp"
#include "numa/heap_scope.hpp"
#include "numa/interpose/decide.hpp"
#include "numa/interpose/original.hpp"
#include "numa/lp_heap.hpp"

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* address, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* address);

}  // extern "C"

namespace {

void* or_no_memory(void* address) noexcept {
    if (address == nullptr) [[unlikely]]
        errno = ENOMEM;
    return address;
}

bool is_power_of_two(std::size_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

void* aligned(std::size_t alignment, std::size_t bytes) noexcept {
    nw::LpHeap* const heap = nw::current_heap;
    if (heap == nullptr) return __libc_memalign(alignment, bytes);
    return or_no_memory(heap->allocate_aligned(alignment, bytes));
}

// glibc has no other name for its own malloc_usable_size, which ours hides.
constinit nw::interpose::Original<std::size_t, void*> libc_usable_size("malloc_usable_size");

// realloc of libc's memory in a handler: a rollback could not undo it. The handler gets a copy.
void* copy_into(nw::LpHeap& heap, void* address, std::size_t bytes) noexcept {
    nw::post_heap_fault(nw::HeapFault::not_from_an_lp);
    void* const copy = heap.allocate(bytes);
    const std::size_t old_bytes = libc_usable_size(address);
    if (copy != nullptr) std::memcpy(copy, address, old_bytes < bytes ? old_bytes : bytes);
    return or_no_memory(copy);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
    nw::LpHeap* const heap = nw::current_heap;
    if (heap == nullptr) return __libc_malloc(bytes);
    return or_no_memory(heap->allocate(bytes));
}

void free(void* address) {
    if (address == nullptr) return;
    if (!nw::is_group_memory(address)) [[likely]] {
        if (nw::current_heap == nullptr ||
            nw::interpose::may_free_libc_memory(__builtin_return_address(0))) [[likely]]
            __libc_free(address);
        else
            nw::post_heap_fault(nw::HeapFault::not_from_an_lp);
        return;
    }
    nw::interpose::free_group_memory(address);
}

void* calloc(std::size_t count, std::size_t bytes) {
    nw::LpHeap* const heap = nw::current_heap;
    if (heap == nullptr) return __libc_calloc(count, bytes);
    std::size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) return or_no_memory(nullptr);
    return or_no_memory(heap->allocate_zeroed(total));
}

void* realloc(void* address, std::size_t bytes) {
    if (address == nullptr) return malloc(bytes);
    nw::LpHeap* const heap = nw::current_heap;
    if (!nw::is_group_memory(address)) {
        if (heap == nullptr || nw::interpose::may_free_libc_memory(__builtin_return_address(0)))
            return __libc_realloc(address, bytes);
        return copy_into(*heap, address, bytes);
    }
    if (bytes == 0) {
        nw::interpose::free_group_memory(address);
        return nullptr;
    }
    return or_no_memory(nw::interpose::reallocate_group_memory(address, bytes));
}

void* reallocarray(void* address, std::size_t count, std::size_t bytes) {
    std::size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) return or_no_memory(nullptr);
    return realloc(address, total);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
    std::size_t power = sizeof(void*);
    while (power < alignment && power <= SIZE_MAX / 2) power *= 2;
    return aligned(power, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    if (!is_power_of_two(alignment)) {
        errno = EINVAL;
        return nullptr;
    }
    return aligned(alignment, bytes);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
    if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
    const int saved_errno = errno;
    void* const address = aligned(alignment, bytes);
    errno = saved_errno;
    if (address == nullptr) return ENOMEM;
    *result = address;
    return 0;
}

void* valloc(std::size_t bytes) { return aligned(nw::page_bytes, bytes); }

void* pvalloc(std::size_t bytes) {
    return aligned(nw::page_bytes, (bytes + nw::page_bytes - 1) / nw::page_bytes * nw::page_bytes);
}

std::size_t malloc_usable_size(void* address) {
    if (address == nullptr) return 0;
    if (!nw::is_group_memory(address)) return libc_usable_size(address);
    return nw::interpose::usable_size_of_group_memory(address);
}

}  // extern "C"
