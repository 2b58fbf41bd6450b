// SPDX-License-Identifier: Apache-2.0
// An LP for tests. A test runs functions in the LP's heap in the same way as the engine runs
// handlers.
#pragma once

#include <exception>
#include <functional>
#include <iomanip>
#include <locale>
#include <sstream>
#include <string>
#include <utility>

#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/handler/runtime_state.hpp"
#include "memory/handler/warm_up.hpp"
#include "memory/heap/group_memory.hpp"
#include "tests/support/new_lp_heap.hpp"

namespace nw::test {

// False under a sanitizer that replaces malloc.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool malloc_is_interposed = false;
#else
inline constexpr bool malloc_is_interposed = true;
#endif

struct GuardedLp {
    GuardedLp()
        : source(linux_os(), MemoryMode::numa, 4),
          group(source, GroupId{1}),
          heap(new_lp_heap(group)) {
        warm_up();
        take_heap_fault();
        guard.adopt_thread();
    }

    // Calls a handler as the engine does. Returns the description of its failure; empty if there is
    // none.
    std::string handle(const std::function<void()>& handler) {
        if (sigsetjmp(guard.env(), 0) != 0) {
            reset_runtime_state();
            leave_heap();
            take_heap_fault();
            return guard.description();
        }
        guard.arm();
        try {
            const HeapScope scope(heap);
            handler();
        } catch (const std::exception& error) {
            words = error.what();
        }
        guard.disarm();
        const HeapFault fault = take_heap_fault();
        if (fault != HeapFault::none) words = describe(fault);
        return std::exchange(words, {});
    }

    MemorySource source;
    GroupMemory group;
    LpHeap& heap;
    FaultGuard guard;
    std::string words;
};

// Formats some values with the locale, so that its facets are used.
inline std::string text_of(const std::locale& locale) {
    std::ostringstream text;
    text.imbue(locale);
    text << 1234567 << 1.5 << std::put_money(123456.0L) << std::boolalpha << true;
    return text.str();
}

}  // namespace nw::test
