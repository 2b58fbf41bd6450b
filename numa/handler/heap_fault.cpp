#include "numa/handler/heap_fault.hpp"

#include <cstdio>

#include <numawarp/model.hpp>

#include "numa/handler/runtime_state.hpp"

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
            return "the handler freed memory that was not allocated by its LP: what exists before "
                   "the run may be read, not freed or reallocated";
        case HeapFault::other_lp:
            return "the handler freed memory of another LP: a thread_local or static container "
                   "that "
                   "LPs share keeps what the one that let it grow had allocated; legal: members of "
                   "the LP";
        case HeapFault::not_a_chunk:
            return "the handler freed an address inside an allocation, not its beginning";
        case HeapFault::already_free:
            return "the handler freed the same memory twice";
        case HeapFault::of_setup:
            return "the handler freed or reallocated memory that setup() made and all LPs share: "
                   "it may be read; what changes must be the LP's own";
        case HeapFault::overflow:
            return overflow_words;
        case HeapFault::underflow:
            return "the handler wrote before the beginning of a block that it had allocated";
        case HeapFault::left_open:
            return "the handler left open what it opened (a file, a descriptor of iconv, …); "
                   "legal: "
                   "what is closed before the handler returns, or opened in on_worker_start()";
        case HeapFault::left_locale:
            return "the handler changed its thread's locale (uselocale) and did not change it back";
        case HeapFault::never_started:
            return "a process was made and never started; legal: env.start(process)";
        case HeapFault::never_awaited:
            return "the process made a delay, a request, a get or a put and did not await it; "
                   "legal: co_await it, or ask it whether it has happened";
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
