// What a handler may ask the machine for, and gets another answer to in another run: clocks, the process's
// number, true randomness. It is not refused, since one may well time a computation; it is noted which of
// them handlers use, and for --check-model clocks can be put forward, so that a model which depends on one
// shows it at once. The functions stand in interpose/outside_sources.cpp.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nw {

enum class OutsideSource : std::uint8_t { clock, process_id, entropy };

// By how much clocks are put forward in handlers. Set before the first of them runs.
extern constinit std::int64_t clock_shift_seconds;

// That a handler has called the function, whose name lasts.
void note_outside_source(OutsideSource source, const char* function) noexcept;

// The first function of each kind that a handler has called.
std::vector<std::string> outside_sources_used();

}  // namespace nw
