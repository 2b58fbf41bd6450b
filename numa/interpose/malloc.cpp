// The malloc family of the whole program. Inside a handler (current_heap set) it means the LP's
// recoverable heap; in platform mode it means libc. free, realloc and malloc_usable_size decide by
// address.
//
// What may be freed where:
//   in a handler, memory of its own LP     — the rule
//   in a handler, memory of another LP     — refused, a heap fault (see heap_fault.hpp)
//   in a handler, memory of libc           — called by libc itself: its own, freed (buffers of
//                                            streams); called by anyone else: it is older than the
//                                            run or shared, and a rollback could not bring it back:
//                                            refused, a heap fault
//   in a handler, memory of setup()        — refused, a heap fault (shared_arena.hpp)
//   in platform mode, memory of libc       — the rule
//   in platform mode, memory of setup()    — freed there; while it is read-only, left as it is
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

#include <algorithm>

#include "numa/handler/heap_fault.hpp"
#include "numa/handler/heap_scope.hpp"
#include "numa/heap/lp_heap.hpp"
#include "numa/interpose/allocate.hpp"
#include "numa/interpose/decide.hpp"
#include "numa/interpose/original.hpp"
#include "numa/os/libc_code.hpp"
#include "numa/region/shared_arena.hpp"

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

// Otherwise nobody would ask for the memory of setup().
const bool serves_setup = (SharedArena::serve(), true);

// The heap that the caller's memory comes from; null: libc's. The loader allocates in a handler at the
// first use of a library's thread-local storage, or of a function. It keeps that memory.
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

// What setup() asks for, or null: then libc is asked.
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

// glibc has no other name for its own malloc_usable_size, which ours hides.
constinit nw::interpose::Original<std::size_t, void*> libc_usable_size("malloc_usable_size");

std::size_t usable_size_outside(void* address) noexcept {
    return SharedArena::contains(address) ? SharedArena::usable_size(address)
                                          : libc_usable_size(address);
}

// realloc of memory that is not the LP's in a handler: a rollback could not undo it. The handler gets
// a copy.
void* copy_into(nw::LpHeap& heap, void* address, std::size_t bytes) noexcept {
    nw::post_heap_fault(SharedArena::contains(address) ? nw::HeapFault::of_setup
                                                       : nw::HeapFault::not_from_an_lp);
    void* const copy = nw::interpose::allocate_from(heap, bytes);
    if (copy != nullptr) std::memcpy(copy, address, std::min(bytes, usable_size_outside(address)));
    return or_no_memory(copy);
}

// In platform mode, of what setup() made.
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
