// What a program says to the meter (jobs/meter): in which phase of a run a thread is, and what it keeps at
// which addresses. Each is one no-operation of eight bytes, `nopl MARK(%rdi,%rsi)`, that the processor
// decodes and drops; the meter's plug-in, which sees every instruction of an emulated program, knows it by
// its displacement and reads the two registers. So a program is measured as it is, and nobody asks
// whether it is being measured.
//
// Thread: any; a mark is about the thread that executes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nw {

// Phases and kinds are numbers in the plug-in's file; jobs/meter/counts.py has the names in the same order.
enum class MeterPhase : std::uint8_t {
    none,  // the program has not said: other programs, before and after a run
    set_up,
    execute,
    roll_back,
    commit,
    mail,
    gvt,
    ending,
};
inline constexpr const char* meter_phase_names[] = {"none",   "set-up", "execute", "roll back",
                                                    "commit", "mail",   "GVT",     "wind-up"};
inline constexpr std::size_t meter_phases = sizeof meter_phase_names / sizeof *meter_phase_names;
static_assert(meter_phases == static_cast<std::size_t>(MeterPhase::ending) + 1);

enum class MeterKind : std::uint8_t {
    other,  // what nobody has named: mostly libc's heap
    state,
    events,
    history,
    snapshots,
    mail,
    pending,
    engine,  // in the groups' memory, and none of the kinds above
    stack,
    code,  // of the program and its libraries, with their constants
};
inline constexpr const char* meter_kind_names[] = {
    "other heap", "state",       "events",       "history", "snapshots",
    "mail",       "pending set", "other engine", "stack",   "code and constants"};
inline constexpr std::size_t meter_kinds = sizeof meter_kind_names / sizeof *meter_kind_names;
static_assert(meter_kinds == static_cast<std::size_t>(MeterKind::code) + 1);

// The upper half of a displacement says that it is a mark, then come a byte for which and one for its value.
enum class MeterMark : std::uint8_t {
    phase,    // value: the thread's phase from now on
    enter,    // value: a phase within another
    leave,    // back to the phase before enter
    memory,   // value: the kind of %rsi bytes at %rdi, whole cache lines
    stack,    // this thread's stack is %rsi bytes at %rdi
    end,      // of this thread
    commits,  // %rdi: so many events this thread has committed so far
    begin,    // nothing was counted before
    moved,    // %rdi: so many groups have just changed to this thread
};
inline constexpr std::uint32_t meter_signature = 0x4e57'0000;

// The template's argument is part of the instruction.
template <MeterMark mark, std::uint8_t value = 0>
[[gnu::always_inline]] inline void meter_mark() noexcept {
#if defined(__x86_64__)
    asm volatile("nopl %c0(%%rdi,%%rsi)" ::"i"(meter_signature |
                                               static_cast<std::uint32_t>(mark) << 8 | value));
#endif
}
template <MeterMark mark, std::uint8_t value = 0>
[[gnu::always_inline]] inline void meter_mark([[maybe_unused]] std::uint64_t rdi,
                                              [[maybe_unused]] std::uint64_t rsi) noexcept {
#if defined(__x86_64__)
    asm volatile("nopl %c0(%%rdi,%%rsi)" ::"i"(meter_signature |
                                               static_cast<std::uint32_t>(mark) << 8 | value),
                 "D"(rdi), "S"(rsi));
#endif
}

template <MeterPhase phase>
[[gnu::always_inline]] inline void meter_phase() noexcept {
    meter_mark<MeterMark::phase, static_cast<std::uint8_t>(phase)>();
}
template <MeterKind kind>
[[gnu::always_inline]] inline void meter_memory(const void* address, std::size_t bytes) noexcept {
    meter_mark<MeterMark::memory, static_cast<std::uint8_t>(kind)>(
        reinterpret_cast<std::uintptr_t>(address), bytes);
}

// A phase within another, while it lives.
template <MeterPhase phase>
class MeterScope {
  public:
    MeterScope() noexcept { meter_mark<MeterMark::enter, static_cast<std::uint8_t>(phase)>(); }
    ~MeterScope() { meter_mark<MeterMark::leave>(); }
    MeterScope(const MeterScope&) = delete;
    MeterScope& operator=(const MeterScope&) = delete;
};

}  // namespace nw
