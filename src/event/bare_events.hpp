// Bare events: their entry in the pending set is all of them (event_key.hpp).
//
// Thread: the worker's.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <numawarp/context.hpp>

#include "event/event_record.hpp"
#include "event/pending_set.hpp"

namespace nw {

static_assert(sizeof(detail::SentEvent) == sizeof(PendingEntry));
static_assert(PendingEntry{0, 0, 0, 0, 0, detail::SentEvent::body_of(7)}.is_bare() &&
              PendingEntry{0, 0, 0, 0, 0, detail::SentEvent::body_of(7)}.type() == 7);

// Bare events that the running handler has scheduled, and a record for the bare event that is executed.
class BareEvents {
  public:
    // Times from `until` on go another way.
    BareEvents(VirtualTime until, VirtualTime lookahead) noexcept
        : buffer_{.before = until, .lookahead = lookahead} {
        buffer_.next = sent_.data();
        buffer_.end = sent_.data() + sent_.size();
    }
    BareEvents(const BareEvents&) = delete;
    BareEvents& operator=(const BareEvents&) = delete;

    // For a handler of the LP that has this count of sends.
    detail::SendBuffer& buffer_for(std::uint32_t& sequence) noexcept {
        buffer_.sequence = &sequence;
        return buffer_;
    }
    // The handler of the LP with this serial number has returned. is_here(number of an LP): events for the LP are this
    // worker's; others: send_away(header).
    template <class IsHere, class SendAway>
    void release(std::uint32_t& serial, PendingSet& pending, IsHere&& is_here,
                 SendAway&& send_away) {
        for (const detail::SentEvent* sent = sent_.data(); sent != buffer_.next; ++sent) {
            detail::SentEvent numbered = *sent;
            numbered.body |= std::uint64_t{serial++} << 32;
            const auto entry = std::bit_cast<PendingEntry>(numbered);
            if (is_here(entry.target)) [[likely]]
                pending.push(entry);
            else
                send_away(header_of(entry));
        }
        buffer_.next = sent_.data();
    }
    // The handler has failed: what it has sent never leaves. Returns how many events these are.
    std::uint32_t drop() noexcept {
        const auto dropped = static_cast<std::uint32_t>(buffer_.next - sent_.data());
        buffer_.next = sent_.data();
        return dropped;
    }

    // The record of an event at the front of the pending set. The record of a bare event is valid until the next call.
    EventRecord& record_of(const PendingEntry& entry) noexcept {
        if (!entry.is_bare()) return *entry.event();
        static_cast<EventHeader&>(record_) = header_of(entry);
        record_.begin();
        return record_;
    }
    bool is_record(const EventRecord& event) const noexcept { return &event == &record_; }

  private:
    std::array<detail::SentEvent, 64> sent_;
    detail::SendBuffer buffer_;
    EventRecord record_;
};

}  // namespace nw
