// What the C++ runtime allocates on a handler's behalf.
//
// - Exception objects belong to the LP, like what they own: std::exception_ptr, std::promise and
//   std::nested_exception keep them in its state, and their counts must be rolled back with it. Who
//   catches one outside copies what it says, and lets go of it, before the LP is restored.
// - Function-local statics, and what pthread_once and std::call_once initialise outside of the LP:
//   by whichever handler comes first, used by all. They must not die with a rollback: everything
//   allocated meanwhile is libc's, whichever heap is current.
// - The list of a thread's destructors of thread_local objects is libc's, too.
//
// Each function calls the next definition in the search order, which is libstdc++'s own: the
// library must be linked dynamically.
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

#include "numa/handler/fault_guard.hpp"
#include "numa/handler/heap_scope.hpp"
#include "numa/handler/runtime_state.hpp"
#include "numa/heap/lp_heap.hpp"
#include "numa/interpose/decide.hpp"
#include "numa/interpose/original.hpp"

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

// --- Exceptions ------------------------------------------------------------------------------------

// When malloc fails the runtime turns to a reserve that it has made at the program's start. What lies
// there would not be rolled back; a handler that has no memory left for an exception has failed.
void* in_lp_or_not_at_all(void* exception, Original<void, void*>& give_back) noexcept {
    if (!malloc_is_ours || nw::current_heap == nullptr || nw::is_group_memory(exception) ||
        !nw::in_handler()) [[likely]]
        return exception;
    nw::set_current_heap(nullptr);
    give_back(exception);
    nw::abandon_handler(nw::words_where_memory_ends);
}

// The last exception, not yet gone, from an initialiser that runs on behalf of a handler. It is libc's.
constinit thread_local void* of_initialiser = nullptr;

// It leaves the initialiser, and a handler may keep it in its state. Its count is not rolled back there,
// so that it must never come near zero: such an exception stays for good. (Initialisers that throw are
// rare.)
void keep_for_good() noexcept {
    if (of_initialiser == nullptr || !nw::in_initialiser_of_handler()) return;
    struct Header {  // libstdc++'s __cxa_refcounted_exception, which stands before the object
        int references;
        struct alignas(16) {
            void* pointers[5];
            int numbers[2];
            void* more_pointers[4];
            _Unwind_Exception unwinder;
        } exception;
    };
    static_assert(sizeof(Header) == 128);
    auto* const header = static_cast<Header*>(of_initialiser) - 1;
    __atomic_fetch_add(&header->references, INT_MAX / 2, __ATOMIC_RELAXED);
    of_initialiser = nullptr;
}

// --- Initialisers ----------------------------------------------------------------------------------

void abandon_guard(void* guard) { guard_abort(static_cast<abi::__guard*>(guard)); }

// Back to where nobody has begun. Who waits must look again.
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
    nw::enter_initialiser(call.control, abandon_once, call.outside);
    try {
        call.routine();
    } catch (...) {
        keep_for_good();
        nw::leave_initialiser();
        throw;
    }
    nw::leave_initialiser();
}

}  // namespace

bool nw::interpose::initialises_static() noexcept { return nw::in_initialiser(); }

extern "C" {

void* abi::__cxa_allocate_exception(std::size_t bytes) noexcept {
    void* const exception = allocate_exception(bytes);
    if (nw::in_initialiser_of_handler()) of_initialiser = exception;
    return in_lp_or_not_at_all(exception, free_exception);
}

void* __cxa_allocate_dependent_exception_of_numawarp() noexcept
    __asm__("__cxa_allocate_dependent_exception");
void* __cxa_allocate_dependent_exception_of_numawarp() noexcept {
    return in_lp_or_not_at_all(allocate_dependent(), free_dependent);
}

// An exception from an initialiser, or of the platform, is libc's: a handler may have caught it, and lets
// go of it.
void abi::__cxa_free_exception(void* exception) noexcept {
    if (nw::is_group_memory(exception)) {
        free_exception(exception);
        return;
    }
    if (of_initialiser == exception) of_initialiser = nullptr;
    const nw::PlatformScope platform;
    free_exception(exception);
}

int abi::__cxa_guard_acquire(__guard* guard) {
    nw::LpHeap* const outside = nw::current_heap;
    nw::set_current_heap(nullptr);
    const int mine = guard_acquire(guard);
    if (mine != 0)
        nw::enter_initialiser(guard, abandon_guard, outside);
    else
        nw::set_current_heap(outside);
    return mine;
}

void abi::__cxa_guard_release(__guard* guard) noexcept {
    guard_release(guard);
    nw::set_current_heap(nw::leave_initialiser());
}

void abi::__cxa_guard_abort(__guard* guard) noexcept {
    keep_for_good();
    guard_abort(guard);
    nw::set_current_heap(nw::leave_initialiser());
}

int abi::__cxa_thread_atexit(void (*destructor)(void*), void* object, void* library) noexcept {
    const nw::PlatformScope platform;
    return thread_atexit(destructor, object, library);
}

// The list of what is called at the end is the process's: a handler's atexit() stays in it.
int abi::__cxa_atexit(void (*function)(void*), void* object, void* library) noexcept {
    const nw::PlatformScope platform;
    return at_exit(function, object, library);
}

// A control that is the LP's own, as in a std::promise, is part of its state, and so is what it guards.
int pthread_once(pthread_once_t* control, void (*routine)()) {
    const bool on_behalf = nw::current_heap != nullptr || nw::in_initialiser_of_handler();
    if (!on_behalf || nw::is_group_memory(control)) return once.function()(control, routine);
    once_call = {control, routine, nw::current_heap};
    const nw::PlatformScope platform;
    return once.function()(control, run_once);
}

// glibc's once_flag is its pthread_once_t.
[[gnu::weak]] void call_once(::once_flag* control, void (*routine)()) {
    static_assert(sizeof(::once_flag) == sizeof(pthread_once_t));
    pthread_once(reinterpret_cast<pthread_once_t*>(control), routine);
}

}  // extern "C"
