// Entering a model's handler and leaving it again, whatever it does.
#pragma once

#include <exception>
#include <string>

#include "lp/lp_record.hpp"
#include "numa/fault_guard.hpp"
#include "numa/heap_fault.hpp"
#include "numa/heap_scope.hpp"

namespace nw {

// Runs `body`, a handler of the LP, inside the LP's heap. Returns in words what went wrong, or
// nothing. A fault (bad pointer, division by zero) jumps to where the caller set guard.env().
template <class Body>
std::string call_handler_of(LpRecord& lp, FaultGuard& guard, Body&& body) {
    try {
        const HeapScope scope(*lp.heap);
        guard.arm();
        body();
        guard.disarm();
    } catch (const std::exception& error) {
        guard.disarm();
        return *error.what() != '\0' ? error.what() : "an exception without words";
    } catch (...) {
        guard.disarm();
        return "an exception that is not a std::exception";
    }
    const HeapFault fault = take_heap_fault();
    if (fault != HeapFault::none) [[unlikely]] return describe(fault);
    return {};
}

}  // namespace nw
