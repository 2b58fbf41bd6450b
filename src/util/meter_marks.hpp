// SPDX-License-Identifier: Apache-2.0
// Marks by which a program reports to the meter (jobs/research/meter). The marks report the phase
// of the run that each thread executes, and the kind of data at each address. A mark is one
// no-operation of eight bytes, `nopl MARK(%rdi,%rsi)`, which the processor decodes and drops. The
// meter's plug-in receives every instruction of an emulated program. It recognizes a mark by the
// displacement and reads the two registers. So the measured program is the program that users run:
// it always contains the marks, and no code tests whether the program is being measured.
//
// Thread: any. A mark is about the thread that executes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nw {

// The plug-in writes phases and kinds as numbers. jobs/research/meter/counts.py lists the names in
// the same order.
enum class MeterPhase : std::uint8_t {
    none,  // no phase is set: other programs, the time before and after a run
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
    other,  // memory that no mark has named: mostly libc's heap
    state,
    events,
    history,
    snapshots,
    mail,
    pending,
    engine,  // in the groups' memory, but none of the kinds above
    stack,
    code,  // of the program and its libraries, with their constants
};
inline constexpr const char* meter_kind_names[] = {
    "other heap", "state",       "events",       "history", "snapshots",
    "mail",       "pending set", "other engine", "stack",   "code and constants"};
inline constexpr std::size_t meter_kinds = sizeof meter_kind_names / sizeof *meter_kind_names;
static_assert(meter_kinds == static_cast<std::size_t>(MeterKind::code) + 1);

// A displacement consists of meter_signature in its upper 16 bits, a byte for the MeterMark and a
// byte for the mark's value.
enum class MeterMark : std::uint8_t {
    phase,    // value: the thread's phase from now on
    enter,    // value: a phase within the present phase
    leave,    // back to the phase before enter
    memory,   // value: the kind of the %rsi bytes at %rdi; one kind for each cache line
    stack,    // this thread's stack is %rsi bytes at %rdi
    end,      // this thread ends
    commits,  // %rdi: the number of events that this thread has committed so far
    begin,    // the meter, or the model of memory of a modeled guest, starts here
    moved,    // %rdi: the number of groups that have just moved to this thread
};
inline constexpr std::uint32_t meter_signature = 0x4e57'0000;

// The template's arguments are part of the instruction.
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

// The marks of a worker's turn. A phase lasts until the next phase begins. The object has no data.
class PhaseMarks {
  public:
    void mail_phase() noexcept { meter_phase<MeterPhase::mail>(); }
    void execute_phase() noexcept { meter_phase<MeterPhase::execute>(); }
    void commit_phase() noexcept { meter_phase<MeterPhase::commit>(); }
    void gvt_phase() noexcept { meter_phase<MeterPhase::gvt>(); }  // also the wait for GVT
    // `events`: the number of events that this thread has committed so far.
    void committed_events(std::uint64_t events) noexcept {
        meter_mark<MeterMark::commits>(events, 0);
    }
};

// A phase within the present phase, for the lifetime of the object.
template <MeterPhase phase>
class MeterScope {
  public:
    MeterScope() noexcept { meter_mark<MeterMark::enter, static_cast<std::uint8_t>(phase)>(); }
    ~MeterScope() { meter_mark<MeterMark::leave>(); }
    MeterScope(const MeterScope&) = delete;
    MeterScope& operator=(const MeterScope&) = delete;
};

}  // namespace nw
