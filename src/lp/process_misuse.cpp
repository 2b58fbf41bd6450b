// Faults of processes and requests that have no effect: process/coroutine.hpp and process/resource.hpp post them.
#include <numawarp/process/coroutine.hpp>

#include "numa/handler/fault_guard.hpp"
#include "numa/handler/heap_fault.hpp"

namespace nw::detail {

void note_never_started() noexcept {
    if (in_handler()) post_heap_fault(HeapFault::never_started);
}

void note_never_awaited() noexcept {
    if (in_handler()) post_heap_fault(HeapFault::never_awaited);
}

}  // namespace nw::detail
