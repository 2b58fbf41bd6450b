// SPDX-License-Identifier: Apache-2.0
// Functions that return different results in different runs: clocks, the process id, true
// randomness. Handlers may call them, for example to time a computation. The engine records which
// of these functions are called by handlers. For --check-model, clocks can be shifted, so that a
// model that depends on a clock is detected at once. The functions are in
// memory/interpose/outside_sources.cpp.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nw {

enum class OutsideSource : std::uint8_t { clock, process_id, entropy };

// The shift of clocks in handlers. Set before the first handler runs.
extern constinit std::int64_t clock_shift_seconds;

// Records that a handler has called the function. The string must live as long as the program.
void note_outside_source(OutsideSource source, const char* function) noexcept;

// For each kind of source, the first function that a handler has called.
std::vector<std::string> outside_sources_used();

}  // namespace nw
