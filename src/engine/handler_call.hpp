// Entering a model's handler and leaving it again, whatever it does.
#pragma once

#include <exception>
#include <string>

#include "lp/lp_record.hpp"
#include "numa/fault_guard.hpp"
#include "numa/heap_fault.hpp"
#include "numa/heap_scope.hpp"
#include "numa/platform_heap.hpp"

namespace nw {

// Runs `body`, which calls into the model. Returns whether all went well; if not, `failure` says in
// words what happened. A fault (bad pointer, division by zero) jumps to where the caller set
// guard.env().
template <class Body>
bool call_guarded(FaultGuard& guard, std::string& failure, Body&& body) {
    bool threw = false;
    try {
        guard.arm();
        body();
        guard.disarm();
    } catch (const PlatformOutOfMemory&) {
        guard.disarm();
        throw;
    } catch (const std::bad_alloc&) {
        threw = true;
        failure =
            "out of memory (std::bad_alloc): the LP's allocation does not fit into its group's "
            "slot or --memory-cap";
    } catch (const std::exception& error) {
        threw = true;
        failure = *error.what() != '\0' ? error.what() : "an exception without words";
    } catch (...) {
        threw = true;
        failure = "an exception that is not a std::exception";
    }
    const HeapFault fault = take_heap_fault();
    if (!threw && fault == HeapFault::none) [[likely]]
        return true;
    guard.disarm();
    if (!threw) failure = describe(fault);
    return false;
}

// The same for a handler of the LP: inside the LP's heap.
template <class Body>
bool call_handler_of(LpRecord& lp, FaultGuard& guard, std::string& failure, Body&& body) {
    return call_guarded(guard, failure, [&] {
        const HeapScope scope(*lp.heap);
        body();
    });
}

// After a fault's jump: out of the LP's heap, and the description of what happened.
inline std::string leave_crashed_handler(const FaultGuard& guard) {
    leave_heap();
    take_heap_fault();
    return guard.description();
}

}  // namespace nw
