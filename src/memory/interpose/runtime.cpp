// SPDX-License-Identifier: Apache-2.0
// Memory that the C++ runtime allocates on a handler's behalf.
//
// - Exception objects belong to the LP, like the objects that they own. std::exception_ptr,
//   std::promise and std::nested_exception keep exceptions in the LP's state, and the reference
//   counts must be rolled back with this state. Code that catches an exception outside of the
//   handler copies its text, and releases the exception before the LP is restored.
// - Function-local statics, and data that pthread_once and std::call_once initialize outside of the
//   LP, are initialized by the first handler that needs them, and used by all LPs. A rollback must
//   not release them. Therefore all memory that is allocated during the initialization belongs to
//   libc, whichever heap was current.
// - The list of destructors of a thread's thread_local objects also belongs to libc.
//
// Each function calls the next definition in the search order, which is in libstdc++. Therefore
// libstdc++ must be linked dynamically.
#include <cxxabi.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <utility>

#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/handler/runtime_state.hpp"
#include "memory/heap/lp_heap.hpp"
#include "memory/interpose/decide.hpp"
#include "memory/interpose/original.hpp"

namespace {

using nw::interpose::Original;

constinit Original<void*, std::size_t> allocate_exception("__cxa_allocate_exception");
constinit Original<void, void*> free_exception("__cxa_free_exception");
constinit Original<void*> allocate_dependent("__cxa_allocate_dependent_exception");
constinit Original<void, void*> free_dependent("__cxa_free_dependent_exception");
constinit Original<int, abi::__guard*> guard_acquire("__cxa_guard_acquire");
constinit Original<void, abi::__guard*> guard_release("__cxa_guard_release");
constinit Original<void, abi::__guard*> guard_abort("__cxa_guard_abort");
constinit Original<int, void (*)(void*), void*, void*> thread_atexit("__cxa_thread_atexit");
constinit Original<int, void (*)(void*), void*, void*> at_exit("__cxa_atexit");
constinit Original<int, pthread_once_t*, void (*)()> once("pthread_once");

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool malloc_is_ours = false;
#else
constexpr bool malloc_is_ours = true;
#endif

// --- Exceptions ----------------------------------------------------------------------------------

// If malloc fails, the runtime uses a reserve that it has made at the start of the program. An
// exception in this reserve would not be rolled back. So a handler without memory for an exception
// has failed.
void* in_lp_or_not_at_all(void* exception, Original<void, void*>& give_back) noexcept {
    if (!malloc_is_ours || nw::current_heap == nullptr || nw::is_group_memory(exception) ||
        !nw::in_handler()) [[likely]]
        return exception;
    nw::set_current_heap(nullptr);
    give_back(exception);
    nw::abandon_handler(nw::out_of_memory_message);
}

// The last exception that was thrown in an initializer on behalf of a handler and is not yet freed.
// It is in libc's memory.
constinit thread_local void* of_initializer = nullptr;

// The exception leaves the initializer, and a handler may keep it in the state of the LP. The
// exception's reference count is outside of the LP and is not rolled back, so it must never come
// near zero. Therefore such an exception is never freed. Initializers that throw are rare.
void keep_for_good() noexcept {
    if (of_initializer == nullptr || !nw::in_initializer_of_handler()) return;
    struct Header {  // libstdc++'s __cxa_refcounted_exception, before the object
        int references;
        struct alignas(16) {
            void* pointers[5];
            int numbers[2];
            void* more_pointers[4];
            _Unwind_Exception unwinder;
        } exception;
    };
    static_assert(sizeof(Header) == 128);
    auto* const header = static_cast<Header*>(of_initializer) - 1;
    __atomic_fetch_add(&header->references, INT_MAX / 2, __ATOMIC_RELAXED);
    of_initializer = nullptr;
}

// --- Initializers --------------------------------------------------------------------------------

void abandon_guard(void* guard) { guard_abort(static_cast<abi::__guard*>(guard)); }

// Resets the control to "not begun", and wakes the waiting threads, which check the control again.
void abandon_once(void* control) {
    static_cast<std::atomic<int>*>(control)->store(0, std::memory_order_release);
    ::syscall(SYS_futex, control, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

struct OnceCall {
    pthread_once_t* control;
    void (*routine)();
    nw::LpHeap* outside;
};
constinit thread_local OnceCall once_call{};

void run_once() {
    const OnceCall call = std::exchange(once_call, {});
    nw::enter_initializer(call.control, abandon_once, call.outside);
    try {
        call.routine();
    } catch (...) {
        keep_for_good();
        nw::leave_initializer();
        throw;
    }
    nw::leave_initializer();
}

}  // namespace

bool nw::interpose::initializes_static() noexcept { return nw::in_initializer(); }

extern "C" {

void* abi::__cxa_allocate_exception(std::size_t bytes) noexcept {
    void* const exception = allocate_exception(bytes);
    if (nw::in_initializer_of_handler()) of_initializer = exception;
    return in_lp_or_not_at_all(exception, free_exception);
}

void* __cxa_allocate_dependent_exception_of_numawarp() noexcept
    __asm__("__cxa_allocate_dependent_exception");
void* __cxa_allocate_dependent_exception_of_numawarp() noexcept {
    return in_lp_or_not_at_all(allocate_dependent(), free_dependent);
}

// The platform's exceptions, and exceptions from initializers, are in libc's memory. A handler may
// have caught such an exception, and releases it.
void abi::__cxa_free_exception(void* exception) noexcept {
    if (nw::is_group_memory(exception)) {
        free_exception(exception);
        return;
    }
    if (of_initializer == exception) of_initializer = nullptr;
    const nw::PlatformScope platform;
    free_exception(exception);
}

int abi::__cxa_guard_acquire(__guard* guard) {
    nw::LpHeap* const outside = nw::current_heap;
    nw::set_current_heap(nullptr);
    const int mine = guard_acquire(guard);
    if (mine != 0)
        nw::enter_initializer(guard, abandon_guard, outside);
    else
        nw::set_current_heap(outside);
    return mine;
}

void abi::__cxa_guard_release(__guard* guard) noexcept {
    guard_release(guard);
    nw::set_current_heap(nw::leave_initializer());
}

void abi::__cxa_guard_abort(__guard* guard) noexcept {
    keep_for_good();
    guard_abort(guard);
    nw::set_current_heap(nw::leave_initializer());
}

int abi::__cxa_thread_atexit(void (*destructor)(void*), void* object, void* library) noexcept {
    const nw::PlatformScope platform;
    return thread_atexit(destructor, object, library);
}

// The list of functions for the end of the process belongs to the process. A function that a
// handler has registered by atexit() stays in the list.
int abi::__cxa_atexit(void (*function)(void*), void* object, void* library) noexcept {
    const nw::PlatformScope platform;
    return at_exit(function, object, library);
}

// If the control is in the LP's memory, as in a std::promise, it is part of the LP's state, and so
// are the data that it guards.
int pthread_once(pthread_once_t* control, void (*routine)()) {
    const bool on_behalf = nw::current_heap != nullptr || nw::in_initializer_of_handler();
    if (!on_behalf || nw::is_group_memory(control)) return once.function()(control, routine);
    once_call = {control, routine, nw::current_heap};
    const nw::PlatformScope platform;
    return once.function()(control, run_once);
}

// In glibc, a once_flag has the layout and the meaning of a pthread_once_t.
[[gnu::weak]] void call_once(::once_flag* control, void (*routine)()) {
    static_assert(sizeof(::once_flag) == sizeof(pthread_once_t));
    pthread_once(reinterpret_cast<pthread_once_t*>(control), routine);
}

}  // extern "C"
