// What a worker of the conservative engine lays down at its cut of a window, and a rank hands to the
// reduction: combined over workers first and over ranks then. combine() is associative and commutative.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <numawarp/time.hpp>

#include "event/event_key.hpp"

namespace nw {

struct WindowSums {
    static constexpr std::uint32_t no_rank = UINT32_MAX;

    // Min of what the worker may still execute and of what it has sent since its last cut.
    VirtualTime earliest = time_infinity;
    VirtualTime last_time = 0;         // largest time executed
    std::uint64_t executed = 0;        // running total
    std::uint64_t resident_bytes = 0;  // of the rank, from one of its workers; 0 from the others
    double overlap = 0;                // of the first worker of the first rank; 0 from the others
    // The first failure in the order of events, and the rank that has it.
    EventKey failed_at{};
    std::uint32_t failed_rank = no_rank;
    int stop = 0;          // a signal number, if the user wants an orderly end
    bool save = false;     // the run is to be saved
    bool dropped = false;  // events were scheduled at or after --until

    bool failed() const noexcept { return failed_rank != no_rank; }
    // After this window and the rest of it there is no other, or not at once.
    bool is_last() const noexcept { return failed() || stop != 0 || save; }

    void combine(const WindowSums& other) noexcept {
        earliest = std::min(earliest, other.earliest);
        last_time = std::max(last_time, other.last_time);
        executed += other.executed;
        resident_bytes += other.resident_bytes;
        overlap = std::max(overlap, other.overlap);
        if (other.failed() && (!failed() || before(other.failed_at, failed_at) ||
                               (other.failed_at == failed_at && other.failed_rank < failed_rank))) {
            failed_at = other.failed_at;
            failed_rank = other.failed_rank;
        }
        stop = std::max(stop, other.stop);
        save |= other.save;
        dropped |= other.dropped;
    }
};
static_assert(std::is_trivially_copyable_v<WindowSums>, "it travels as bytes");

}  // namespace nw
