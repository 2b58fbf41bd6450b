// SPDX-License-Identifier: Apache-2.0
#include "memory/interpose/decide.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_fault.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/handler/thread_end.hpp"
#include "memory/heap/heap_guards.hpp"
#include "memory/heap/large_blocks.hpp"
#include "memory/heap/lp_heap.hpp"
#include "memory/interpose/allocate.hpp"
#include "memory/region/region.hpp"
#include "numa/os/libc_code.hpp"
#include "util/check.hpp"

namespace nw::interpose {
namespace {

#if defined(__x86_64__)
const unsigned char* relative(const unsigned char* after, const unsigned char* offset) noexcept {
    std::int32_t distance = 0;
    std::memcpy(&distance, offset, sizeof distance);
    return after + distance;
}

bool holds(const unsigned char* table_entry, const void* function) noexcept {
    const void* target = nullptr;
    std::memcpy(&target, table_entry, sizeof target);
    return target == function;
}

// True if the instruction before `return_address` calls `function`, directly or through a stub of
// the library's procedure linkage table. Two special cases give false. In the first case, libc
// called a callback that ended with a jump to free(): `return_address` is in libc, but libc does
// not call `function`. In the second case, a function of libc ended with such a jump:
// `return_address` is in the model.
bool is_called_there(const unsigned char* return_address, const void* function) noexcept {
    if (return_address[-6] == 0xff && return_address[-5] == 0x15)  // call *entry(%rip)
        return holds(relative(return_address, return_address - 4), function);
    if (return_address[-5] != 0xe8) return false;  // call
    const unsigned char* stub = relative(return_address, return_address - 4);
    if (stub == function) return true;
    if (!is_libc_code(stub)) return false;
    constexpr unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (std::memcmp(stub, endbr64, sizeof endbr64) == 0) stub += sizeof endbr64;
    if (*stub == 0xf2) ++stub;                             // bnd
    if (stub[0] != 0xff || stub[1] != 0x25) return false;  // jmp *entry(%rip)
    return holds(relative(stub + 6, stub + 2), function);
}
#else
// On other processors only the range of the return address is checked.
bool is_called_there(const unsigned char*, const void*) noexcept { return true; }
#endif

// Called if the engine has freed memory that must not be freed. free() cannot throw, so the process
// ends.
[[noreturn, gnu::cold]] void stop(const char* what) noexcept {
    const ErrorContext& here = error_context();
    std::array<char, 256> line{};
    const int length =
        std::snprintf(line.data(), line.size(),
                      "numawarp: internal error: %s (rank %lld, worker %lld, LP %lld, time %g)\n",
                      what, static_cast<long long>(here.rank), static_cast<long long>(here.worker),
                      static_cast<long long>(here.lp), here.time);
    if (length > 0)
        static_cast<void>(!::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length)));
    ::_exit(1);
}

// Reports an invalid call in platform mode. If no handler runs, the engine has made the call.
// Otherwise the caller is a function of the model that runs with libc's malloc, for example `final`
// of the ROSS interface.
void post_or_stop(HeapFault fault, const char* what) noexcept {
    if (!in_handler()) stop(what);
    post_heap_fault(fault);
}

}  // namespace

void fail_unless_impossible(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t alignment_max =
        heap_guards_on ? HeapGuards::alignment_max : LargeBlocks::alignment_max;
    if (in_handler() && bytes <= LargeBlocks::bytes_max && alignment <= alignment_max)
        abandon_handler(out_of_memory_message);
}

bool may_free_libc_memory(const void* return_address, const void* function) noexcept {
    if (libc_frees_excused()) return true;
    return is_libc_code(return_address) &&
           is_called_there(static_cast<const unsigned char*>(return_address), function);
}

void free_group_memory(void* address) noexcept {
    if (LpHeap* const heap = current_heap; heap != nullptr) {
        const HeapFault fault = outside_of(*heap, [&] {
            return heap_guards_on ? HeapGuards::free(*heap, address) : heap->free(address);
        });
        if (fault != HeapFault::none) [[unlikely]]
            post_heap_fault(fault);
        return;
    }
    // Libraries may free memory after the run, when they are unloaded.
    if (Region::is_retired()) return;
    LpHeap* const owner = LpHeap::owner_of(address);
    if (at_thread_end()) {
        note_freed_at_thread_end();
        if (owner != nullptr) static_cast<void>(owner->free(address));
        return;
    }
    if (owner == nullptr) stop("platform memory was given to free()");
    const HeapFault fault =
        heap_guards_on ? HeapGuards::free(*owner, address) : owner->free(address);
    if (fault != HeapFault::none)
        post_or_stop(
            fault,
            "an address in memory of an LP was freed outside a handler, and is not allocated");
}

void* reallocate_group_memory(void* address, std::size_t bytes) noexcept {
    if (Region::is_retired()) return nullptr;
    // There is no current heap while a memory stream of a handler is being closed. The text of the
    // stream is memory of the LP.
    LpHeap* const heap = current_heap != nullptr ? current_heap : LpHeap::owner_of(address);
    if (heap == nullptr) stop("platform memory was given to realloc()");
    HeapFault fault = HeapFault::none;
    const auto reallocate = [&]() -> void* {
        fault = heap_guards_on ? HeapGuards::check(*heap, address) : heap->check(address);
        if (fault != HeapFault::none) return nullptr;
        return heap_guards_on ? HeapGuards::reallocate(*heap, address, bytes)
                              : heap->reallocate(address, bytes);
    };
    if (current_heap == nullptr) {
        void* const moved = reallocate();
        if (fault != HeapFault::none)
            post_or_stop(fault,
                         "an address in memory of an LP was reallocated outside a handler, and is "
                         "not allocated");
        return moved;
    }
    void* const result = outside_of(*heap, reallocate);
    if (fault == HeapFault::none) return checked(result, bytes, 0);
    post_heap_fault(fault);
    return result;
}

std::size_t usable_size_of_group_memory(const void* address) noexcept {
    if (Region::is_retired()) return 0;
    const LpHeap* const owner = LpHeap::owner_of(address);
    if (owner == nullptr) return 0;
    if (heap_guards_on)
        return HeapGuards::check(*owner, address) == HeapFault::none
                   ? HeapGuards::usable_size(address)
                   : 0;
    return owner->owns(address) ? owner->usable_size(address) : 0;
}

}  // namespace nw::interpose
