#include "numa/heap_fault.hpp"

#include <numawarp/model.hpp>

namespace nw {

constinit thread_local std::uint8_t detail::heap_remarks = 0;

const char* describe(HeapFault fault) noexcept {
    switch (fault) {
        case HeapFault::none:
            return "no fault";
        case HeapFault::not_from_an_lp:
            return "the handler freed memory that was not allocated by its LP: what exists before "
                   "the run may be read, not freed or reallocated";
        case HeapFault::other_lp:
            return "the handler freed memory of another LP";
        case HeapFault::not_a_chunk:
            return "the handler freed an address inside an allocation, not its beginning";
        case HeapFault::already_free:
            return "the handler freed the same memory twice";
    }
    return "unknown fault";
}

void post_heap_fault(HeapFault fault) noexcept {
    if ((detail::heap_remarks & ~detail::excused_bit) == 0)
        detail::heap_remarks |= static_cast<std::uint8_t>(fault);
}

void excuse_libc_frees() noexcept { detail::heap_remarks |= detail::excused_bit; }

bool libc_frees_excused() noexcept { return (detail::heap_remarks & detail::excused_bit) != 0; }

void throw_heap_fault(HeapFault fault) { throw ModelError(describe(fault)); }

}  // namespace nw
