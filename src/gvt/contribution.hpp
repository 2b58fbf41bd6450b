// What a worker lays down at its cut and a rank hands to the reduction: everything that must be
// known of all workers at one consistent cut. Combined by combine(), which is associative and
// commutative, over workers first and over ranks then (net/counted_reduction.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <numawarp/time.hpp>

#include "event/event_key.hpp"

namespace nw {

// What was sent in some epochs and may still be on its way.
struct Transit {
    EventBound min{};           // of all that was sent
    std::int64_t messages = 0;  // sent − received; a worker's own may be negative

    void combine(const Transit& other) noexcept {
        min = std::min(min, other.min);
        messages += other.messages;
    }
};

// GVT rounds are counted modulo 2^32, and so are the epochs between them. Not from 0: this way every
// run wraps, and no test has to wait for it.
inline constexpr std::uint32_t first_round = 0u - 32;

struct Contribution {
    EventBound m0;  // min of the smallest pending event and of what was sent this epoch
    // Epochs closed before this one: up to a certain one, and all after it. The newer become the
    // older once those are empty.
    Transit older;
    Transit newer;
    // Min of the events whose handlers were interrupted: they stand in their LPs' histories, and are
    // run again when nothing can come before them any more.
    EventBound put_aside;
    VirtualTime lead = 0;  // largest time executed
    // Running totals of the worker, but for what a pause takes back, which says nothing.
    std::uint64_t executed = 0;
    std::uint64_t rolled_back = 0;
    std::uint64_t committed = 0;
    std::uint64_t resident_bytes = 0;  // of the rank, from one of its workers; 0 from the others
    std::uint64_t clock_ns = 0;   // of the run's first worker, but for pauses; 0 from the others
    std::uint64_t not_ended = 0;  // LPs whose can_end() has not been true yet (see EndCondition)
    EventKey end_key{-1.0, 0, 0, 0};    // the latest event at which an LP first let the run end
    std::uint64_t sent_beyond_end = 0;  // events scheduled at or after --until so far
    std::uint64_t stop = 0;             // a signal number, if the user wants an orderly end
    std::uint64_t save = 0;             // 1 if the run is to be saved now (--checkpoint)
    std::uint64_t move = 0;             // 1 if groups are to move between ranks now
    // Once the worker has learnt of such a request: a bound beyond every event that it has executed irrevocably.
    EventBound irrevocable_before{0};
    // 1 if the run may stand still between two generations of one time.
    std::uint64_t splits_time = 0;
    // The earliest event of the rank that has failed and is final. An infinite time: no event has failed.
    EventKey failed_at{time_infinity, 0, 0, 0};
    // Of a rank, from one of its workers: nanoseconds of committed work a second of a worker, and the same
    // of the rank that has most.
    std::uint64_t load = 0;
    std::uint64_t load_most = 0;
    std::uint32_t events_ahead = UINT32_MAX;  // uncommitted ones that memory allows a worker

    bool failed() const noexcept { return failed_at.time != time_infinity; }
    // GVT, once all workers' are combined: nothing below it can be executed or rolled back any more.
    EventBound gvt() const noexcept { return std::min(gvt_of_others(), put_aside); }
    // The same but for what was put aside. What was put aside below it is certain.
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
        put_aside = std::min(put_aside, other.put_aside);
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
        irrevocable_before = std::max(irrevocable_before, other.irrevocable_before);
        splits_time = std::max(splits_time, other.splits_time);
        if (before(other.failed_at, failed_at)) failed_at = other.failed_at;
        load += other.load;
        load_most = std::max(load_most, other.load_most);
        events_ahead = std::min(events_ahead, other.events_ahead);
    }
};
static_assert(std::is_trivially_copyable_v<Contribution>, "it travels as bytes");

}  // namespace nw
