// SPDX-License-Identifier: Apache-2.0
// The total order of events: (time, generation, sender, sequence).
//
// The generation starts at a value that follows from the event's priority. If the event has the
// same time as the event that scheduled it, its generation is also larger than the generation of
// that event. So an event that was scheduled without delay comes after the event that scheduled it.
// The sequence counts the events that the sender has scheduled, and is rolled back with the sender.
// So an event that is scheduled again after a rollback has its former place. An anti-message finds
// its event not by this key, but by the identity (sender, serial) (event_header.hpp).
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace nw {

// A lower bound of events, for example GVT. A bound includes the generation, because the events of
// a chain of zero delays have the same time: only their generations increase. An event has a larger
// bound than the event that scheduled it.
struct EventBound {
    VirtualTime time;
    std::uint32_t generation;

    constexpr EventBound(VirtualTime t = time_infinity, std::uint32_t g = 0) noexcept
        : time(t), generation(g) {}
    friend bool operator==(const EventBound&, const EventBound&) = default;
    friend bool operator<(const EventBound& a, const EventBound& b) noexcept {
        return a.time < b.time || (a.time == b.time && a.generation < b.generation);
    }
};

// Returns the smallest bound beyond `bound`. The bound after the last generation of a time is the
// next larger time.
inline EventBound just_after(const EventBound& bound) noexcept {
    if (bound.generation == UINT32_MAX) return {std::nextafter(bound.time, time_infinity)};
    return {bound.time, bound.generation + 1};
}

// Each priority has 2^chain_bits generations for a chain of zero delays. A longer chain continues
// into the generations of the next priority.
inline constexpr unsigned chain_bits = 18;
constexpr std::uint32_t first_generation_of(Priority priority) noexcept {
    return std::uint32_t{priority.number} << chain_bits;
}
static_assert(priority_max == UINT32_MAX >> chain_bits);
// Position of an event in its chain of zero delays, modulo 2^chain_bits.
constexpr std::uint32_t place_in_chain(std::uint32_t generation) noexcept {
    return generation & ((1u << chain_bits) - 1);
}

struct EventKey {
    VirtualTime time = 0;
    std::uint32_t generation = 0;
    std::uint32_t sender = 0;
    std::uint32_t sequence = 0;
};
static_assert(sizeof(EventKey) == 24);

// Returns whether `a` is before `b` in the order of events. A and B are EventKey or PendingEntry
// (pending_entry.hpp). Requires: no time is NaN. Cost: nearly always one comparison, because equal
// times are rare.
template <class A, class B>
inline bool before(const A& a, const B& b) noexcept {
    if (a.time != b.time) [[likely]]
        return a.time < b.time;
    if (a.generation != b.generation) return a.generation < b.generation;
    if (a.sender != b.sender) return a.sender < b.sender;
    return a.sequence < b.sequence;
}

// Returns a key that is before all events at this time or later.
inline EventKey start_of(VirtualTime time) noexcept { return {time, 0, 0, 0}; }
inline EventKey start_of(const EventBound& bound) noexcept {
    return {bound.time, bound.generation, 0, 0};
}

inline bool operator==(const EventKey& a, const EventKey& b) noexcept {
    return a.time == b.time && a.generation == b.generation && a.sender == b.sender &&
           a.sequence == b.sequence;
}

inline std::strong_ordering operator<=>(const EventKey& a, const EventKey& b) noexcept {
    if (before(a, b)) return std::strong_ordering::less;
    return a == b ? std::strong_ordering::equal : std::strong_ordering::greater;
}

}  // namespace nw
