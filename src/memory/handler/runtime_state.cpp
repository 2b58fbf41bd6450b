// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/runtime_state.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "memory/handler/heap_fault.hpp"
#include "memory/handler/heap_scope.hpp"

namespace nw {
namespace {

struct Initializer {
    void* control;
    void (*abandon)(void*);
};

// Maximum depth of nested initializers that are abandoned after a jump. Programs do not nest
// initializers more deeply.
constexpr std::size_t initializers_max = 32;

struct Initializers {
    std::size_t depth = 0;
    LpHeap* heap_outside = nullptr;  // the current heap before the outermost initializer
    std::array<Initializer, initializers_max> open{};
};
constinit thread_local Initializers initializers;

constinit thread_local locale_t thread_locale = nullptr;  // null: the locale of the process

constexpr std::size_t resources_max = 64;

struct Resource {
    void* what;
    void (*close)(void*);
};
struct Resources {
    std::size_t count = 0;
    std::array<Resource, resources_max> open{};
};
constinit thread_local Resources resources;

// The descriptors that the running handler has opened. If there are more than resources_max, the
// rest stay open after a jump.
struct Descriptors {
    std::size_t count = 0;
    std::array<int, resources_max> open{};
};
constinit thread_local Descriptors descriptors;

locale_t locale_of_thread() noexcept {
    return thread_locale != nullptr ? thread_locale : LC_GLOBAL_LOCALE;
}

// A handler that crashed in printf() holds the lock of the stream, and other threads would wait for
// it forever. The lock is recursive: ftrylockfile() succeeds also if this thread holds the lock.
// The count then shows how often this thread holds the lock.
void unlock(std::FILE* stream) noexcept {
    if (::ftrylockfile(stream) != 0) return;  // held by another thread
    struct StreamLock {                       // glibc's _IO_lock_t
        int lock;
        int count;
        void* owner;
    };
    const auto* const lock = reinterpret_cast<const StreamLock*>(stream->_lock);
    while (lock->count > 1) ::funlockfile(stream);
    ::funlockfile(stream);
}

}  // namespace

void enter_initializer(void* control, void (*abandon)(void*), LpHeap* outside) noexcept {
    if (initializers.depth == 0) initializers.heap_outside = outside;
    if (initializers.depth < initializers_max)
        initializers.open[initializers.depth] = {control, abandon};
    ++initializers.depth;
}

LpHeap* leave_initializer() noexcept {
    if (--initializers.depth != 0) return nullptr;
    // The temporaries of the initializer are destroyed after this call.
    if (initializers.heap_outside != nullptr) excuse_libc_frees();
    return std::exchange(initializers.heap_outside, nullptr);
}

bool in_initializer() noexcept { return initializers.depth > 0; }

bool in_initializer_of_handler() noexcept {
    return initializers.depth > 0 && initializers.heap_outside != nullptr;
}

void note_locale_change() noexcept { note_unsettled(); }

void set_thread_locale(locale_t locale) noexcept { thread_locale = locale; }

bool note_opened(void* resource, void (*close)(void*)) noexcept {
    if (resources.count == resources_max) return false;
    resources.open[resources.count++] = {resource, close};
    note_unsettled();
    return true;
}

bool forget_opened(void* resource) noexcept {
    for (std::size_t i = resources.count; i > 0; --i) {
        if (resources.open[i - 1].what != resource) continue;
        for (--resources.count; i <= resources.count; ++i)
            resources.open[i - 1] = resources.open[i];
        return true;
    }
    return false;
}

void note_descriptor(int descriptor) noexcept {
    if (descriptors.count == descriptors.open.size()) return;
    descriptors.open[descriptors.count++] = descriptor;
    note_unsettled();
}

void forget_descriptor(int descriptor) noexcept {
    for (std::size_t i = 0; i < descriptors.count; ++i)
        if (descriptors.open[i] == descriptor)
            descriptors.open[i--] = descriptors.open[--descriptors.count];
}

void reset_runtime_state() noexcept {
    leave_heap();
    while (descriptors.count > 0) ::close(descriptors.open[--descriptors.count]);
    while (initializers.depth > 0) {
        const std::size_t i = --initializers.depth;
        if (i < initializers_max) initializers.open[i].abandon(initializers.open[i].control);
    }
    // The locale is also reset because of changes by libraries. For example, libstdc++ changes the
    // locale while it prints numbers.
    if (::uselocale(nullptr) != locale_of_thread()) ::uselocale(locale_of_thread());
    for (std::FILE* const stream : {stdin, stdout, stderr}) unlock(stream);
}

LeftBehind put_back() noexcept {
    const PlatformScope platform;
    LeftBehind left = LeftBehind::nothing;
    descriptors.count = 0;
    if (::uselocale(nullptr) != locale_of_thread()) {
        ::uselocale(locale_of_thread());
        left = LeftBehind::locale;
    }
    while (resources.count > 0) {
        const Resource last = resources.open[--resources.count];
        last.close(last.what);
        left = LeftBehind::resource;
    }
    return left;
}

}  // namespace nw
