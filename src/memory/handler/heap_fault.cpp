// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/heap_fault.hpp"

#include <cstdio>

#include <numawarp/model.hpp>

#include "memory/handler/runtime_state.hpp"

namespace nw {

constinit thread_local std::uint8_t detail::heap_remarks = 0;

namespace {

constinit thread_local char overflow_words[160] = "the handler wrote past the end of a block";

}  // namespace

HeapFault note_overflow(std::size_t block_bytes, std::size_t offset) noexcept {
    std::snprintf(
        overflow_words, sizeof overflow_words,
        "the handler wrote past the end of a block of %zu bytes: the first byte changed is "
        "at offset %zu",
        block_bytes, offset);
    return HeapFault::overflow;
}

const char* describe(HeapFault fault) noexcept {
    switch (fault) {
        case HeapFault::none:
            return "no fault";
        case HeapFault::not_from_an_lp:
            return "the handler freed memory that was not allocated by its LP; memory from before "
                   "the run may be read, but not freed or reallocated";
        case HeapFault::other_lp:
            return "the handler freed memory of another LP; possible cause: a thread_local or "
                   "static container that LPs share keeps the memory of the LP that made it grow; "
                   "allowed: members of the LP";
        case HeapFault::not_a_chunk:
            return "the handler freed an address inside an allocation, not its beginning";
        case HeapFault::already_free:
            return "the handler freed the same memory twice";
        case HeapFault::of_setup:
            return "the handler freed or reallocated memory that setup() allocated and all LPs "
                   "share; this memory may only be read; data that changes must belong to the LP";
        case HeapFault::overflow:
            return overflow_words;
        case HeapFault::underflow:
            return "the handler wrote before the beginning of a block that it had allocated";
        case HeapFault::left_open:
            return "the handler did not close a resource that it opened (a file, a descriptor of "
                   "iconv, …); allowed: resources that the handler closes before it returns, or "
                   "that on_worker_start() opens";
        case HeapFault::left_locale:
            return "the handler changed its thread's locale (uselocale) and did not restore it";
        case HeapFault::never_started:
            return "a process was created and never started; allowed: env.start(process)";
        case HeapFault::never_awaited:
            return "the process created a delay, a request, a get or a put and did not await it; "
                   "allowed: co_await on it, or a query whether it has happened";
    }
    return "unknown fault";
}

void post_heap_fault(HeapFault fault) noexcept {
    if ((detail::heap_remarks & ~(detail::excused_bit | detail::unsettled_bit)) == 0)
        detail::heap_remarks |= static_cast<std::uint8_t>(fault);
}

void excuse_libc_frees() noexcept { detail::heap_remarks |= detail::excused_bit; }

bool libc_frees_excused() noexcept { return (detail::heap_remarks & detail::excused_bit) != 0; }

void note_unsettled() noexcept { detail::heap_remarks |= detail::unsettled_bit; }

HeapFault detail::settle() noexcept {
    const std::uint8_t remarks = heap_remarks;
    const LeftBehind left = (remarks & unsettled_bit) != 0 ? put_back() : LeftBehind::nothing;
    heap_remarks = 0;
    const auto fault = static_cast<HeapFault>(remarks & ~(excused_bit | unsettled_bit));
    if (fault != HeapFault::none || left == LeftBehind::nothing) return fault;
    return left == LeftBehind::resource ? HeapFault::left_open : HeapFault::left_locale;
}

void throw_heap_fault(HeapFault fault) { throw ModelError(describe(fault)); }

}  // namespace nw
