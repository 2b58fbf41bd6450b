// SPDX-License-Identifier: Apache-2.0
// The malloc family of the whole program. In a handler (current_heap is set) these functions use
// the LP's recoverable heap; in platform mode they use libc. free, realloc and malloc_usable_size
// find the heap by the address.
//
// The effect of free:
//   in a handler, memory of its LP         — freed: the usual case
//   in a handler, memory of another LP     — refused, a heap fault (see heap_fault.hpp)
//   in a handler, memory of libc           — if libc itself calls free() (stream buffers): freed.
//                                            Else the memory is older than the run or shared, and a
//                                            rollback could not restore it: refused, a heap fault
//   in a handler, memory of setup()        — refused, a heap fault (shared_arena.hpp)
//   in platform mode, memory of libc       — freed: the usual case
//   in platform mode, memory of setup()    — freed in the arena; while the arena is read-only, kept
//   in platform mode, live memory of an LP — freed in that LP's heap: an exception that left a
//                                            handler is freed in this way. Allowed only on the
//                                            group's owner thread, before the LP is restored
//   in platform mode, any other memory of  — a bug of the engine: one line, exit code 1
//   a group
//
// Linked into executables only. Not linked under sanitizers, which replace malloc. new.cpp also
// works under sanitizers.
#include <malloc.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <algorithm>

#include "memory/handler/heap_fault.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/heap/lp_heap.hpp"
#include "memory/interpose/allocate.hpp"
#include "memory/interpose/decide.hpp"
#include "memory/interpose/original.hpp"
#include "memory/region/shared_arena.hpp"
#include "numa/os/libc_code.hpp"

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* address, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* address);

}  // extern "C"

namespace {

using nw::SharedArena;
using nw::interpose::is_for_setup;

// Enables the arena of setup(): only a program with this file requests memory from the arena.
const bool serves_setup = (SharedArena::serve(), true);

// The heap for the caller's memory; null: libc. In a handler, the loader allocates memory at the
// first use of a library's thread-local storage, or of a function. The loader keeps this memory, so
// the memory must not belong to the LP.
nw::LpHeap* heap_of(const void* caller) noexcept {
    nw::LpHeap* const heap = nw::current_heap;
    if (heap != nullptr && nw::loader_code.contains(caller)) [[unlikely]]
        return nullptr;
    return heap;
}

void* or_no_memory(void* address) noexcept {
    if (address == nullptr) [[unlikely]]
        errno = ENOMEM;
    return address;
}

bool is_power_of_two(std::size_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

// Serves a request of setup() from its arena. Returns null if libc must serve the request.
void* from_arena(std::size_t bytes, std::size_t alignment, const void* caller) noexcept {
    if (!SharedArena::fills() || !is_for_setup(caller)) [[likely]]
        return nullptr;
    return SharedArena::allocate(bytes, alignment);
}

void* aligned(std::size_t alignment, std::size_t bytes, const void* caller) noexcept {
    nw::LpHeap* const heap = nw::current_heap;
    if (heap == nullptr) {
        void* const shared = from_arena(bytes, alignment, caller);
        return shared != nullptr ? shared : __libc_memalign(alignment, bytes);
    }
    return or_no_memory(nw::interpose::allocate_aligned_from(*heap, alignment, bytes));
}

// The malloc_usable_size of glibc, which the definition below hides. It has no other name.
constinit nw::interpose::Original<std::size_t, void*> libc_usable_size("malloc_usable_size");

std::size_t usable_size_outside(void* address) noexcept {
    return SharedArena::contains(address) ? SharedArena::usable_size(address)
                                          : libc_usable_size(address);
}

// In a handler, realloc of memory that does not belong to the LP is a fault, because a rollback
// could not undo it. The handler gets a copy.
void* copy_into(nw::LpHeap& heap, void* address, std::size_t bytes) noexcept {
    nw::post_heap_fault(SharedArena::contains(address) ? nw::HeapFault::of_setup
                                                       : nw::HeapFault::not_from_an_lp);
    void* const copy = nw::interpose::allocate_from(heap, bytes);
    if (copy != nullptr) std::memcpy(copy, address, std::min(bytes, usable_size_outside(address)));
    return or_no_memory(copy);
}

// realloc of memory of setup(), in platform mode.
void* reallocate_shared(void* address, std::size_t bytes, const void* caller) noexcept {
    const std::size_t usable = SharedArena::usable_size(address);
    if (bytes <= usable && bytes > usable / 2) return address;
    void* copy = from_arena(bytes, nw::chunk_alignment, caller);
    if (copy == nullptr) copy = __libc_malloc(bytes);
    if (copy == nullptr) return nullptr;
    std::memcpy(copy, address, std::min(bytes, usable));
    SharedArena::free(address);
    return copy;
}

void free_outside(void* address, const void* caller) noexcept {
    if (SharedArena::contains(address)) [[unlikely]] {
        if (nw::current_heap == nullptr)
            SharedArena::free(address);
        else
            nw::post_heap_fault(nw::HeapFault::of_setup);
    } else if (nw::current_heap == nullptr ||
               nw::interpose::may_free_libc_memory(caller, reinterpret_cast<const void*>(&free)))
        [[likely]] {
        __libc_free(address);
    } else {
        nw::post_heap_fault(nw::HeapFault::not_from_an_lp);
    }
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
    nw::LpHeap* const heap = heap_of(__builtin_return_address(0));
    if (heap == nullptr) {
        void* const shared = from_arena(bytes, nw::chunk_alignment, __builtin_return_address(0));
        return shared != nullptr ? shared : __libc_malloc(bytes);
    }
    return or_no_memory(nw::interpose::allocate_from(*heap, bytes));
}

void free(void* address) {
    if (address == nullptr) return;
    if (!nw::is_group_memory(address)) [[likely]] {
        free_outside(address, __builtin_return_address(0));
        return;
    }
    nw::interpose::free_group_memory(address);
}

void* calloc(std::size_t count, std::size_t bytes) {
    nw::LpHeap* const heap = heap_of(__builtin_return_address(0));
    std::size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) return or_no_memory(nullptr);
    if (heap == nullptr) {
        void* shared = nullptr;
        if (SharedArena::fills() && is_for_setup(__builtin_return_address(0))) [[unlikely]]
            shared = SharedArena::allocate_zeroed(total);
        return shared != nullptr ? shared : __libc_calloc(1, total);
    }
    return or_no_memory(nw::interpose::allocate_zeroed_from(*heap, total));
}

void* realloc(void* address, std::size_t bytes) {
    if (address == nullptr) return malloc(bytes);
    nw::LpHeap* const heap = nw::current_heap;
    if (!nw::is_group_memory(address)) {
        if (SharedArena::contains(address)) [[unlikely]] {
            if (heap != nullptr) return copy_into(*heap, address, bytes);
            if (bytes != 0)
                return or_no_memory(reallocate_shared(address, bytes, __builtin_return_address(0)));
            SharedArena::free(address);
            return nullptr;
        }
        if (heap == nullptr ||
            nw::interpose::may_free_libc_memory(__builtin_return_address(0),
                                                reinterpret_cast<const void*>(&realloc)))
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
    return aligned(power, bytes, __builtin_return_address(0));
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    if (!is_power_of_two(alignment)) {
        errno = EINVAL;
        return nullptr;
    }
    return aligned(alignment, bytes, __builtin_return_address(0));
}

int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
    if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
    const int saved_errno = errno;
    void* const address = aligned(alignment, bytes, __builtin_return_address(0));
    errno = saved_errno;
    if (address == nullptr) return ENOMEM;
    *result = address;
    return 0;
}

void* valloc(std::size_t bytes) {
    return aligned(nw::page_bytes, bytes, __builtin_return_address(0));
}

void* pvalloc(std::size_t bytes) {
    return aligned(nw::page_bytes, (bytes + nw::page_bytes - 1) / nw::page_bytes * nw::page_bytes,
                   __builtin_return_address(0));
}

std::size_t malloc_usable_size(void* address) {
    if (address == nullptr) return 0;
    if (!nw::is_group_memory(address)) return usable_size_outside(address);
    return nw::interpose::usable_size_of_group_memory(address);
}

}  // extern "C"
