// SPDX-License-Identifier: Apache-2.0
// The values that a worker of the conservative engine contributes at its cut of a window. They are
// combined first over the workers of a rank, then over the ranks. combine() is associative and
// commutative.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <numawarp/time.hpp>

#include "api/event_key.hpp"

namespace nw {

struct WindowSums {
    static constexpr std::uint32_t no_rank = UINT32_MAX;

    // The minimum time of the worker's pending events and of the events that the worker has sent
    // since its last cut.
    VirtualTime earliest = time_infinity;
    VirtualTime last_time = 0;  // largest time of an executed event
    // Running totals. `executed` and `committed` differ if Time Warp has executed a part of the
    // run.
    std::uint64_t executed = 0;
    std::uint64_t committed = 0;
    std::uint64_t rolled_back = 0;
    std::int64_t waited_ns = 0;        // wall time of turns without work, for the engine's trial
    std::uint64_t resident_bytes = 0;  // of the rank, from one of its workers; 0 from the others
    // Whether a rank has too little memory for a trial of Time Warp, which may take twice the
    // memory.
    bool is_memory_short = false;
    double overlap = 0;  // from the first worker of the first rank; 0 from the others
    // The first failure in the order of events, and the rank on which it occurred.
    EventKey failed_at{};
    std::uint32_t failed_rank = no_rank;
    // The number of the signal if the user requests an orderly end; otherwise 0.
    int stop = 0;
    bool save = false;     // the run is to be saved
    bool leave = false;    // another engine is to continue the run
    bool dropped = false;  // events were scheduled at or after --until

    bool failed() const noexcept { return failed_rank != no_rank; }
    // Whether the run ends or pauses after the rest of this window.
    bool is_last() const noexcept { return failed() || stop != 0 || save || leave; }

    void combine(const WindowSums& other) noexcept {
        earliest = std::min(earliest, other.earliest);
        last_time = std::max(last_time, other.last_time);
        executed += other.executed;
        committed += other.committed;
        rolled_back += other.rolled_back;
        waited_ns += other.waited_ns;
        resident_bytes += other.resident_bytes;
        is_memory_short |= other.is_memory_short;
        overlap = std::max(overlap, other.overlap);
        if (other.failed() && (!failed() || before(other.failed_at, failed_at) ||
                               (other.failed_at == failed_at && other.failed_rank < failed_rank))) {
            failed_at = other.failed_at;
            failed_rank = other.failed_rank;
        }
        stop = std::max(stop, other.stop);
        save |= other.save;
        leave |= other.leave;
        dropped |= other.dropped;
    }
};
static_assert(std::is_trivially_copyable_v<WindowSums>, "it travels as bytes");

}  // namespace nw
