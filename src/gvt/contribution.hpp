// SPDX-License-Identifier: Apache-2.0
// The values that a worker contributes to a GVT round at its cut, and that the reduction combines.
// All these values belong to one consistent cut. combine() is associative and commutative, and is
// applied first to the workers of a rank and then to the ranks (net/counted_reduction.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <numawarp/time.hpp>

#include "api/event_key.hpp"

namespace nw {

// The messages that were sent in some epochs. They may still be in flight.
struct Transit {
    EventBound min{};           // of the sent messages
    std::int64_t messages = 0;  // sent − received; may be negative for one worker

    void combine(const Transit& other) noexcept {
        min = std::min(min, other.min);
        messages += other.messages;
    }
};

// GVT rounds and epochs are counted modulo 2^32. The first number is 32 below the wrap to 0, so
// that every run with more than 32 rounds passes the wrap, also in tests.
inline constexpr std::uint32_t first_round = 0u - 32;

struct Contribution {
    EventBound m0;  // minimum of the smallest pending event and of the messages sent in this epoch
    // The epochs that were closed before this cut, in two sets. When no message of the older set is
    // in flight, the newer set becomes the older set (docs/gvt.md).
    Transit older;
    Transit newer;
    // Minimum of the deferred events. A deferred event is in the history of its LP. The handler of
    // the event runs again when no other event can precede the event any more.
    EventBound deferred;
    VirtualTime lead = 0;  // time of the latest executed event
    // Totals of the worker since the start. Events that a pause undoes are not counted in
    // `executed` and `rolled_back`, because the window is not the cause of these rollbacks.
    std::uint64_t executed = 0;
    std::uint64_t rolled_back = 0;
    std::uint64_t committed = 0;
    // Resident memory of the rank, from one worker of the rank; 0 from the other workers.
    std::uint64_t resident_bytes = 0;
    // Wall time without pauses, from the run's first worker; 0 from the other workers.
    std::uint64_t clock_ns = 0;
    std::uint64_t not_ended = 0;  // LPs whose can_end() has not returned true yet (see Ending)
    // The latest event at which an LP allowed the end for the first time.
    EventKey end_key{-1.0, 0, 0, 0};
    std::uint64_t sent_beyond_end = 0;  // events scheduled so far at --until or later
    std::uint64_t stop = 0;   // a signal number if the user requests an orderly end, else 0
    std::uint64_t save = 0;   // 1 if the run is to be saved now (--checkpoint)
    std::uint64_t move = 0;   // 1 if groups are to move between ranks now
    std::uint64_t leave = 0;  // 1 if another engine is to continue the run
    // A bound beyond all events that the worker has executed irrevocably. Valid after the worker
    // has read one of the requests `stop`, `save`, `move` and `leave` in the result of a round.
    EventBound irrevocable_end{0};
    // 1 if the run may stop between two generations of one time.
    std::uint64_t splits_time = 0;
    // The earliest event of the rank that is final and has failed. The time is infinite if there is
    // no such event.
    EventKey failed_at{time_infinity, 0, 0, 0};
    // Committed work of a rank, in nanoseconds per second and worker: `load` is the sum over the
    // ranks, and `load_most` is the maximum. One worker of each rank contributes both values.
    std::uint64_t load = 0;
    std::uint64_t load_most = 0;
    // The number of uncommitted events that the memory allows for each worker.
    std::uint32_t events_ahead = UINT32_MAX;

    bool failed() const noexcept { return failed_at.time != time_infinity; }
    // Returns GVT. Requires: the contributions of all workers have been combined.
    EventBound gvt() const noexcept { return std::min(gvt_of_others(), deferred); }
    // GVT without the deferred events. The deferred events at `deferred` are irrevocable if
    // `deferred` is below this bound.
    EventBound gvt_of_others() const noexcept {
        EventBound bound = m0;
        for (const Transit& epochs : {older, newer})
            if (epochs.messages != 0) bound = std::min(bound, epochs.min);
        return bound;
    }
    std::int64_t in_flight() const noexcept { return older.messages + newer.messages; }

    void combine(const Contribution& other) noexcept {
        m0 = std::min(m0, other.m0);
        older.combine(other.older);
        newer.combine(other.newer);
        deferred = std::min(deferred, other.deferred);
        lead = std::max(lead, other.lead);
        executed += other.executed;
        rolled_back += other.rolled_back;
        committed += other.committed;
        resident_bytes += other.resident_bytes;
        clock_ns = std::max(clock_ns, other.clock_ns);
        not_ended += other.not_ended;
        if (before(end_key, other.end_key)) end_key = other.end_key;
        sent_beyond_end += other.sent_beyond_end;
        stop = std::max(stop, other.stop);
        save = std::max(save, other.save);
        move = std::max(move, other.move);
        leave = std::max(leave, other.leave);
        irrevocable_end = std::max(irrevocable_end, other.irrevocable_end);
        splits_time = std::max(splits_time, other.splits_time);
        if (before(other.failed_at, failed_at)) failed_at = other.failed_at;
        load += other.load;
        load_most = std::max(load_most, other.load_most);
        events_ahead = std::min(events_ahead, other.events_ahead);
    }
};
static_assert(std::is_trivially_copyable_v<Contribution>, "it travels as bytes");

}  // namespace nw
