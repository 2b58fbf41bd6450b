// SPDX-License-Identifier: Apache-2.0
// The entry of the pending set. It contains the event's key, because reading the key from the event
// would cost a cache miss per comparison. It also contains the target, so that the target's LP can
// be prefetched before the event is read.
#pragma once

#include <cstdint>

#include "api/event_key.hpp"

namespace nw {

namespace detail {
struct ShortBody;
}
struct EventRecord;

struct PendingEntry {
    VirtualTime time;
    std::uint32_t generation;
    std::uint32_t sender;
    std::uint32_t sequence;
    std::uint32_t target;
    // One of three cases:
    //   - The event has a record: its address.
    //   - The event is short and bare (it has no payload): the rest of the event, with bare_bit.
    //   - The event is short and has a payload: the address of its ShortBody, with short_bit.
    // A short event is canceled only by an anti-message. If the event has not been executed, the
    // anti-message is kept until the event is the next event to execute. A short event gets a
    // record only when a record is needed, for example in an LP's history.
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
    // Returns the payload's size (0), the type and the serial, as in the last eight bytes of
    // EventHeader. Requires: is_bare().
    std::uint64_t bare_word() const noexcept { return body & ~bare_bit; }

    static std::uint64_t body_of(const EventRecord* event) noexcept {
        return reinterpret_cast<std::uint64_t>(event);
    }

  private:
    // Never set in an address. SentEvent sets these bits.
    static constexpr std::uint64_t bare_bit = 1, short_bit = 2;
};
static_assert(sizeof(PendingEntry) == 32, "two entries per cache line");

}  // namespace nw
