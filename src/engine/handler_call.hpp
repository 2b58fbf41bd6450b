// SPDX-License-Identifier: Apache-2.0
// Calls of a model's handler, which may return, throw or fault.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <numawarp/context.hpp>
#include <numawarp/logical_process.hpp>

#include "api/event_sink.hpp"
#include "api/process_messages.hpp"
#include "lp/lp_record.hpp"
#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_fault.hpp"
#include "memory/handler/heap_scope.hpp"
#include "memory/handler/runtime_state.hpp"
#include "memory/heap/heap_guards.hpp"
#include "memory/heap/platform_heap.hpp"

namespace nw {

// How a handler ended.
enum class HandlerEnd : std::uint8_t { returned, out_of_memory, exception, unknown_exception };

// Runs `body` with `heap` as the current heap (null: the heap of libc). The heap stays current, and
// the guard stays armed, until `body` has ended and an exception of `body` is destroyed, because
// what() and the destructor of the exception are code of the model. The text of the exception
// becomes the guard's description.
//
// Always inlined, because a call would pass the captures of `body` through memory. Other functions
// on the path of an event are always inlined for the same reason.
template <class Body>
[[gnu::always_inline]] inline HandlerEnd run_armed(FaultGuard& guard, LpHeap* heap, Body&& body) {
    const HeapScope scope(heap);
    HandlerEnd end = HandlerEnd::returned;
    guard.arm();
    try {
        body();
    } catch (const PlatformOutOfMemory&) {
        guard.disarm();
        throw;
    } catch (const std::bad_alloc&) {
        end = HandlerEnd::out_of_memory;
    } catch (const std::exception& error) {
        end = HandlerEnd::exception;
        note_exception(guard, error);
    } catch (...) {
        end = HandlerEnd::unknown_exception;
    }
    guard.disarm();
    return end;
}

// Describes the failure, heap faults included.
[[gnu::cold]] inline std::string words_of(const FaultGuard& guard, HandlerEnd end,
                                          HeapFault fault) {
    switch (end) {
        case HandlerEnd::returned:
            return describe(fault);
        case HandlerEnd::out_of_memory:
            return "out of memory (std::bad_alloc): the LP's allocation does not fit into its "
                   "group's slot or --memory-cap";
        case HandlerEnd::exception:
            return guard.description();
        case HandlerEnd::unknown_exception:
            break;
    }
    return "an exception that is not a std::exception";
}

// Called after run_armed(). Returns whether the handler succeeded. If not, stores a description of
// the failure in `failure`.
[[gnu::always_inline]] inline bool describe_end(const FaultGuard& guard, HandlerEnd end,
                                                std::string& failure) {
    guard.restore_float_environment();
    const HeapFault fault = take_heap_fault();
    if (end == HandlerEnd::returned && fault == HeapFault::none) [[likely]]
        return true;
    failure = take_failed_process() + words_of(guard, end, fault);
    return false;
}

// Runs `body`, which calls the model. Returns whether `body` succeeded. If not, stores a
// description of the failure in `failure`. A fault (bad pointer, division by zero) jumps to the
// place where the caller has set guard.env().
template <class Body>
bool call_guarded(FaultGuard& guard, LpHeap* heap, std::string& failure, Body&& body) {
    return describe_end(guard, run_armed(guard, heap, std::forward<Body>(body)), failure);
}

// Like call_guarded(), for a handler of `lp`: the LP's heap is current. With --check-heap, it also
// checks the LP's blocks afterwards.
template <class Body>
[[gnu::always_inline]] inline bool call_handler_of(LpRecord& lp, FaultGuard& guard,
                                                   std::string& failure, Body&& body) {
    const HandlerEnd end = run_armed(guard, &lp.heap, std::forward<Body>(body));
    if (heap_guards_on && end == HandlerEnd::returned) [[unlikely]] {
        const HeapFault broken = HeapGuards::check_all(lp.heap);
        if (broken != HeapFault::none) post_heap_fault(broken);
    }
    return describe_end(guard, end, failure);
}

// The body of call_handler_of() for an event: calls on_event(), and can_end() if the LP has not
// ended. Returns the number of blocks of random numbers that the handler has drawn.
[[gnu::always_inline]] inline std::uint32_t run_on_event(const LpRecord& lp, EventRecord& event,
                                                         Context& context, bool has_end_condition) {
    lp.process->on_event(context, event.view());
    if (has_end_condition) event.lets_end = !lp.ended && lp.process->can_end();
    return detail::blocks_drawn(lp.random_counter, context.random().counter());
}

// Called after the jump of a fault. Resets the thread's state that the handler may have changed.
// Returns a description of the failure.
inline std::string leave_crashed_handler(const FaultGuard& guard) {
    reset_runtime_state();
    leave_heap();
    take_heap_fault();
    guard.recover();
    return take_failed_process() + guard.description();
}

}  // namespace nw
