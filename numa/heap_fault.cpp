#include "numa/heap_fault.hpp"

#include <utility>

#include <numawarp/model.hpp>

namespace nw {
namespace {
constinit thread_local HeapFault pending_fault = HeapFault::none;
}

const char* describe(HeapFault fault) noexcept {
    switch (fault) {
        case HeapFault::none: return "no fault";
        case HeapFault::not_from_an_lp:
            return "the handler freed memory that was not allocated by its LP: what exists before "
                   "the run may be read, not freed or reallocated";
        case HeapFault::other_lp: return "the handler freed memory of another LP";
        case HeapFault::not_a_chunk:
            return "the handler freed an address inside an allocation, not its beginning";
        case HeapFault::already_free: return "the handler freed the same memory twice";
    }
    return "unknown fault";
}

HeapFault take_heap_fault() noexcept { return std::exchange(pending_fault, HeapFault::none); }

void post_heap_fault(HeapFault fault) noexcept {
    if (pending_fault == HeapFault::none) pending_fault = fault;
}

void throw_heap_fault(HeapFault fault) { throw ModelError(describe(fault)); }

}  // namespace nw
