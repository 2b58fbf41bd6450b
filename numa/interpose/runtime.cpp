// What the C++ runtime allocates on a handler's behalf and keeps: it must not die with a rollback,
// so it is had from libc, whichever heap is current.
//
// - Exception objects: thrown in a handler, they outlive it. (What an exception *owns*, such as the
//   text of std::runtime_error, is the LP's: whoever catches it outside copies it, and lets go of
//   the exception, before the LP is restored.)
// - Function-local statics: initialised by whichever handler comes first, used by all. Everything
//   allocated while one is being initialised is libc's.
// - The list of a thread's destructors of thread_local objects.
//
// Each function calls the next definition in the search order, which is libstdc++'s own: the
// library must be linked dynamically.
#include <cxxabi.h>

#include <cstddef>

#include "numa/heap_fault.hpp"
#include "numa/heap_scope.hpp"
#include "numa/interpose/decide.hpp"
#include "numa/interpose/original.hpp"

namespace {

using nw::interpose::Original;

constinit Original<void*, std::size_t> allocate_exception("__cxa_allocate_exception");
constinit Original<void, void*> free_exception("__cxa_free_exception");
constinit Original<int, abi::__guard*> guard_acquire("__cxa_guard_acquire");
constinit Original<void, abi::__guard*> guard_release("__cxa_guard_release");
constinit Original<void, abi::__guard*> guard_abort("__cxa_guard_abort");
constinit Original<int, void (*)(void*), void*, void*> thread_atexit("__cxa_thread_atexit");

// How many statics this thread is initialising, one within the other, and the heap that was current
// before the outermost.
constinit thread_local unsigned open_statics = 0;
constinit thread_local nw::LpHeap* heap_outside_statics = nullptr;

void enter_static() noexcept {
    if (open_statics++ != 0) return;
    heap_outside_statics = nw::current_heap;
    nw::set_current_heap(nullptr);
}

void leave_static() noexcept {
    if (--open_statics != 0) return;
    nw::set_current_heap(heap_outside_statics);
    // The compiler destroys the initialiser's temporaries only after this.
    if (heap_outside_statics != nullptr) nw::excuse_libc_frees();
}

}  // namespace

bool nw::interpose::initialises_static() noexcept { return open_statics != 0; }

extern "C" {

void* abi::__cxa_allocate_exception(std::size_t bytes) noexcept {
    const nw::PlatformScope platform;
    return allocate_exception(bytes);
}

void abi::__cxa_free_exception(void* exception) noexcept {
    const nw::PlatformScope platform;
    free_exception(exception);
}

int abi::__cxa_guard_acquire(__guard* guard) {
    const int mine = guard_acquire(guard);
    if (mine != 0) enter_static();
    return mine;
}

void abi::__cxa_guard_release(__guard* guard) noexcept {
    guard_release(guard);
    leave_static();
}

void abi::__cxa_guard_abort(__guard* guard) noexcept {
    guard_abort(guard);
    leave_static();
}

int abi::__cxa_thread_atexit(void (*destructor)(void*), void* object, void* library) noexcept {
    const nw::PlatformScope platform;
    return thread_atexit(destructor, object, library);
}

}  // extern "C"
