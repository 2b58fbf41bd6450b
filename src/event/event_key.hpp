// The total order of events, and the entry of the pending set that carries it inline.
//
// Order is (time, generation, sender, sequence). The generation is that of the event's priority, and more than the
// parent's when the event has its parent's time: a zero-delay effect comes after its cause. The sequence is
// the sender's own count of what it scheduled and rolls back with the sender, so that an event that
// is scheduled again after a rollback has its old place. Order is not identity: matching an
// anti-message to its twin is the business of event records.
//
// Keys stand inside the entries because a comparison that has to follow a pointer to the event is a
// cache miss; the target stands there so that its LP can be prefetched without touching the event.
#pragma once

#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace nw {

namespace detail {
struct ShortBody;
}
struct EventRecord;

// A lower bound of events; GVT is one. The generation belongs to it: a chain of zero delays stays at
// one time, and only its generations tell how far it has come. What an event causes has a larger
// bound than the event.
struct EventBound {
    VirtualTime time;
    std::uint32_t generation;

    constexpr EventBound(VirtualTime t = time_infinity, std::uint32_t g = 0) noexcept
        : time(t), generation(g) {}
    friend bool operator==(const EventBound&, const EventBound&) = default;
    friend bool operator<(const EventBound& a, const EventBound& b) noexcept {
        return a.time != b.time ? a.time < b.time : a.generation < b.generation;
    }
};

// The least bound beyond those that are equal to `bound`. After the last generation comes the next time.
inline EventBound just_after(const EventBound& bound) noexcept {
    if (bound.generation == UINT32_MAX) return {std::nextafter(bound.time, time_infinity)};
    return {bound.time, bound.generation + 1};
}

// Between one priority and the next there is room for a chain of zero delays; a longer one goes on into the next.
inline constexpr unsigned chain_bits = 18;
constexpr std::uint32_t first_generation_of(Priority priority) noexcept {
    return std::uint32_t{priority.number} << chain_bits;
}
static_assert(priority_max == UINT32_MAX >> chain_bits);
// How far in such a chain an event is.
constexpr std::uint32_t place_in_chain(std::uint32_t generation) noexcept {
    return generation & ((1u << chain_bits) - 1);
}

struct EventKey {
    VirtualTime time = 0;
    std::uint32_t generation = 0;
    std::uint32_t sender = 0;
    std::uint32_t sequence = 0;
};

struct PendingEntry {
    VirtualTime time;
    std::uint32_t generation;
    std::uint32_t sender;
    std::uint32_t sequence;
    std::uint32_t target;
    // The address of the event's record. Or the event is short: it is never cancelled, and has no record until somebody
    // keeps it. Without a payload it is bare, and `body` holds the rest of the event; else `body` is the address of the
    // event's ShortBody.
    std::uint64_t body;

    EventKey key() const noexcept { return {time, generation, sender, sequence}; }
    EventBound bound() const noexcept { return {time, generation}; }

    constexpr bool has_record() const noexcept { return (body & (bare_bit | short_bit)) == 0; }
    constexpr bool is_bare() const noexcept { return is_bare(body); }
    static constexpr bool is_bare(std::uint64_t body) noexcept { return (body & bare_bit) != 0; }
    // Requires: has_record().
    EventRecord* record() const noexcept { return reinterpret_cast<EventRecord*>(body); }
    // Requires: neither has_record() nor is_bare().
    detail::ShortBody* short_body() const noexcept { return short_body(body); }
    static detail::ShortBody* short_body(std::uint64_t body) noexcept {
        return reinterpret_cast<detail::ShortBody*>(body & ~short_bit);
    }
    // Size of the payload (0), type and serial number, as the last eight bytes of EventHeader. Requires: is_bare().
    std::uint64_t bare_word() const noexcept { return body & ~bare_bit; }

    static std::uint64_t body_of(const EventRecord* event) noexcept {
        return reinterpret_cast<std::uint64_t>(event);
    }

  private:
    // Never set in an address. SentEvent sets them.
    static constexpr std::uint64_t bare_bit = 1, short_bit = 2;
};
static_assert(sizeof(EventKey) == 24);
static_assert(sizeof(PendingEntry) == 32, "two entries a cache line");

// Whether a's place is before b's. A and B are EventKey or PendingEntry.
// Requires: no time is NaN. Cost: one comparison nearly always; ties are rare but legal.
template <class A, class B>
inline bool before(const A& a, const B& b) noexcept {
    if (a.time != b.time) [[likely]]
        return a.time < b.time;
    if (a.generation != b.generation) return a.generation < b.generation;
    if (a.sender != b.sender) return a.sender < b.sender;
    return a.sequence < b.sequence;
}

// Before every event at that time or later.
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
