// SPDX-License-Identifier: Apache-2.0
// All forms of operator new and delete. They use the LP's heap in a handler, and malloc otherwise.
// Without sanitizers, this saves a second check of current_heap in malloc.cpp. Under sanitizers,
// which replace malloc, only these operators put containers into the LP's heap. The rules of
// malloc.cpp apply.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "memory/handler/heap_fault.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/heap/lp_heap.hpp"
#include "memory/interpose/allocate.hpp"
#include "memory/interpose/decide.hpp"

namespace {

// An alignment of 0 means the default alignment.
void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (nw::LpHeap* const heap = nw::current_heap; heap != nullptr)
        return alignment == 0 ? nw::interpose::allocate_from(*heap, bytes)
                              : nw::interpose::allocate_aligned_from(*heap, alignment, bytes);
    if (alignment == 0) return std::malloc(bytes != 0 ? bytes : 1);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

[[gnu::cold]] void* retry_allocate(std::size_t bytes, std::size_t alignment) {
    while (std::new_handler handler = std::get_new_handler()) {
        handler();
        if (void* const address = try_allocate(bytes, alignment)) return address;
    }
    throw std::bad_alloc();
}

void* allocate(std::size_t bytes, std::size_t alignment) {
    void* const address = try_allocate(bytes, alignment);
    if (address != nullptr) [[likely]]
        return address;
    return retry_allocate(bytes, alignment);
}

template <class Allocate>
void* or_null(Allocate&& allocate_it) noexcept {
    try {
        return allocate_it();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void release(void* address) noexcept {
    if (address == nullptr) return;
    if (nw::is_group_memory(address)) {
        nw::interpose::free_group_memory(address);
        return;
    }
    if (nw::current_heap != nullptr && nw::SharedArena::contains(address)) {
        nw::post_heap_fault(nw::HeapFault::of_setup);
        return;
    }
    if (nw::current_heap != nullptr && !nw::libc_frees_excused()) {
        nw::post_heap_fault(nw::HeapFault::not_from_an_lp);
        return;
    }
    const nw::PlatformScope platform;
    std::free(address);
}

std::size_t bytes_of(std::align_val_t alignment) noexcept {
    return static_cast<std::size_t>(alignment);
}

}  // namespace

using std::align_val_t;
using std::nothrow_t;
using std::size_t;

// Weak, because a program may define these operators. As the standard requires, a form that the
// program does not define calls a form that the program defines.
#define NW_OPERATOR [[gnu::weak]]

NW_OPERATOR void* operator new(size_t n) { return allocate(n, 0); }
NW_OPERATOR void* operator new(size_t n, align_val_t a) { return allocate(n, bytes_of(a)); }
NW_OPERATOR void* operator new[](size_t n) { return operator new(n); }
NW_OPERATOR void* operator new[](size_t n, align_val_t a) { return operator new(n, a); }
NW_OPERATOR void* operator new(size_t n, const nothrow_t&) noexcept {
    return or_null([&] { return operator new(n); });
}
NW_OPERATOR void* operator new[](size_t n, const nothrow_t&) noexcept {
    return or_null([&] { return operator new[](n); });
}
NW_OPERATOR void* operator new(size_t n, align_val_t a, const nothrow_t&) noexcept {
    return or_null([&] { return operator new(n, a); });
}
NW_OPERATOR void* operator new[](size_t n, align_val_t a, const nothrow_t&) noexcept {
    return or_null([&] { return operator new[](n, a); });
}

NW_OPERATOR void operator delete(void* p) noexcept { release(p); }
NW_OPERATOR void operator delete(void* p, align_val_t) noexcept { release(p); }
NW_OPERATOR void operator delete[](void* p) noexcept { operator delete(p); }
NW_OPERATOR void operator delete[](void* p, align_val_t a) noexcept { operator delete(p, a); }
NW_OPERATOR void operator delete(void* p, size_t) noexcept { operator delete(p); }
NW_OPERATOR void operator delete[](void* p, size_t) noexcept { operator delete[](p); }
NW_OPERATOR void operator delete(void* p, const nothrow_t&) noexcept { operator delete(p); }
NW_OPERATOR void operator delete[](void* p, const nothrow_t&) noexcept { operator delete[](p); }
NW_OPERATOR void operator delete(void* p, size_t, align_val_t a) noexcept { operator delete(p, a); }
NW_OPERATOR void operator delete[](void* p, size_t, align_val_t a) noexcept {
    operator delete[](p, a);
}
NW_OPERATOR void operator delete(void* p, align_val_t a, const nothrow_t&) noexcept {
    operator delete(p, a);
}
NW_OPERATOR void operator delete[](void* p, align_val_t a, const nothrow_t&) noexcept {
    operator delete[](p, a);
}
