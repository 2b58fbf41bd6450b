// Entering a model's handler and leaving it again, whatever it does.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <numawarp/context.hpp>
#include <numawarp/logical_process.hpp>

#include "lp/event_sink.hpp"
#include "lp/lp_record.hpp"
#include "lp/process_messages.hpp"
#include "numa/handler/fault_guard.hpp"
#include "numa/handler/heap_fault.hpp"
#include "numa/handler/heap_scope.hpp"
#include "numa/handler/runtime_state.hpp"
#include "numa/heap/heap_guards.hpp"
#include "numa/heap/platform_heap.hpp"

namespace nw {

// How a handler came back.
enum class HandlerEnd : std::uint8_t { returned, out_of_memory, exception, unknown_exception };

// Runs `body` with `heap` current (null: libc's) until it, and an exception that it throws, are gone.
// The guard is armed all the while: what() of an exception is the model's code, and so is its
// destructor. The words of an exception are then the guard's description. Always inlined, like all on the way of
// an event whose calls would pass their body's captures through memory.
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

// In words what went wrong, heap faults included.
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

// After run_armed(). Returns whether all went well; if not, `failure` says in words what happened.
[[gnu::always_inline]] inline bool describe_end(const FaultGuard& guard, HandlerEnd end,
                                                std::string& failure) {
    guard.restore_float_environment();
    const HeapFault fault = take_heap_fault();
    if (end == HandlerEnd::returned && fault == HeapFault::none) [[likely]]
        return true;
    failure = take_failed_process() + words_of(guard, end, fault);
    return false;
}

// Runs `body`, which calls into the model. Returns whether all went well; if not, `failure` says in
// words what happened. A fault (bad pointer, division by zero) jumps to where the caller set
// guard.env().
template <class Body>
bool call_guarded(FaultGuard& guard, LpHeap* heap, std::string& failure, Body&& body) {
    return describe_end(guard, run_armed(guard, heap, std::forward<Body>(body)), failure);
}

// The same for a handler of the LP: inside the LP's heap.
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

// What call_handler_of() is to run for an event: on_event(), and can_end() if the LP has not ended. Returns how far
// the LP's random numbers have moved on.
inline std::uint32_t run_on_event(const LpRecord& lp, EventRecord& event, Context& context,
                                  bool has_end_condition) {
    lp.process->on_event(context, event.view());
    if (has_end_condition && !lp.ended) event.lets_end = lp.process->can_end();
    return detail::blocks_drawn(lp.random_counter, context.random().counter());
}

// After a fault's jump: nothing of the handler is left in the thread. Returns what happened.
inline std::string leave_crashed_handler(const FaultGuard& guard) {
    reset_runtime_state();
    leave_heap();
    take_heap_fault();
    guard.recover();
    return take_failed_process() + guard.description();
}

}  // namespace nw
