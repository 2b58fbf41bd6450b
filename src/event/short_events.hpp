// SPDX-License-Identifier: Apache-2.0
// Short events have no record. The pending entry of a bare event contains the whole event. Each
// other short event has its payload in a body of one cache line.
//
// Thread: the worker's.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <numawarp/send_buffer.hpp>

#include "event/event_record.hpp"
#include "event/pending_set.hpp"

namespace nw {

static_assert(sizeof(detail::SentEvent) == sizeof(PendingEntry));
static_assert(PendingEntry{0, 0, 0, 0, 0, detail::SentEvent::bare_body(7)}.is_bare());

// Writes the header of a short event. `word`: the last eight bytes of the header. Uses memcpy,
// because compilers turn an assignment of each field into many moves.
inline void write_header(EventHeader& header, const PendingEntry& entry,
                         std::uint64_t word) noexcept {
    constexpr std::size_t before_word = offsetof(PendingEntry, body);
    auto* const bytes = reinterpret_cast<std::byte*>(&header);
    std::memcpy(bytes, &entry, before_word);
    std::memcpy(bytes + before_word, &word, sizeof word);
}
inline EventHeader header_of(const PendingEntry& entry) noexcept {
    EventHeader header;
    write_header(header, entry, entry.is_bare() ? entry.bare_word() : entry.short_body()->word);
    return header;
}

// Holds the short events that the running handler has scheduled, the bodies of all pending short
// events, and a record for the short event that is executed.
class ShortEvents {
  public:
    // Events at `until` or later are not short, and neither are events with a payload above
    // `payload_bytes_max` or above ShortBody::payload_bytes_max.
    ShortEvents(VirtualTime until, VirtualTime lookahead, std::size_t payload_bytes_max);
    ShortEvents(const ShortEvents&) = delete;
    ShortEvents& operator=(const ShortEvents&) = delete;

    struct NoNote {
        void operator()(const detail::SentEvent&, std::uint64_t) const noexcept {}
    };

    // Called before a handler. `sequence`: the handler's LP counts its sends with this variable.
    void send_for(std::uint32_t& sequence) noexcept { buffer_.sequence = &sequence; }
    // The buffer for the handler's context.
    detail::SendBuffer& buffer() noexcept { return buffer_; }
    // Releases the events of a handler that has returned. `serial` is the serial of the LP's next
    // event. For each event, note(entry, the last eight bytes of its header) is called. If
    // is_here(target) is true, the event is then pushed into `pending`. Otherwise
    // send_away(header, payload) is called.
    template <class IsHere, class SendAway, class Note = NoNote>
    [[gnu::always_inline]] void release(std::uint32_t& serial, PendingSet& pending,
                                        IsHere&& is_here, SendAway&& send_away, Note&& note = {}) {
        for (detail::SentEvent* sent = sent_.data(); sent != buffer_.next; ++sent) {
            const std::uint64_t serial_in_word = std::uint64_t{serial++} << 32;
            if (PendingEntry::is_bare(sent->body)) {
                sent->body |= serial_in_word;
                note(*sent, std::bit_cast<PendingEntry>(*sent).bare_word());
            } else {
                std::uint64_t& word = PendingEntry::short_body(sent->body)->word;
                word |= serial_in_word;
                note(*sent, word);
            }
            if (is_here(static_cast<std::uint32_t>(sent->sequence_and_target >> 32))) [[likely]]
                pending.push(std::bit_cast<VirtualTime>(sent->time), *sent);
            else
                send(std::bit_cast<PendingEntry>(*sent), send_away);
        }
        buffer_.next = sent_.data();
        if (buffer_.free_bodies == nullptr && buffer_.payload_bytes_max != 0) [[unlikely]]
            make_bodies();
    }
    // Whether an event of this size can be short.
    bool has_room_for(const EventHeader& header) const noexcept {
        return header.payload_bytes <= buffer_.payload_bytes_max;
    }
    // Makes the entry of a short event. Requires: has_room_for(header).
    PendingEntry entry_of(const EventHeader& header, const std::byte* payload) {
        auto entry = std::bit_cast<PendingEntry>(header);
        if (header.payload_bytes == 0) {
            entry.body = detail::SentEvent::bare_body(0) | entry.body;
        } else {
            if (buffer_.free_bodies == nullptr) make_bodies();
            detail::ShortBody* const body = buffer_.free_bodies;
            buffer_.free_bodies = body->next;
            body->word = entry.body;
            std::memcpy(body->payload, payload, header.payload_bytes);
            entry.body = detail::SentEvent::body_at(body);
        }
        return entry;
    }
    // Pushes an event that comes from another worker. Returns false, and does nothing, if the event
    // is too large.
    bool push(const EventHeader& header, const std::byte* payload, PendingSet& pending) {
        if (!has_room_for(header)) return false;
        pending.push(entry_of(header, payload));
        return true;
    }
    // Drops the events of a handler that has failed. Returns their number.
    std::uint32_t drop() noexcept;
    // Frees the body of an event that was removed from the pending set, if it has one.
    void drop(const PendingEntry& entry) noexcept {
        if (!entry.has_record() && !entry.is_bare()) free(entry.short_body());
    }

    // Returns the record of an event at the front of the pending set. If the event is short, the
    // record is valid until the next call, and the entry must not be used any more. The record has
    // canceled_by_identity set, because an anti-message may wait for any short event.
    EventRecord& record_of(const PendingEntry& entry) noexcept {
        if (entry.has_record()) return *entry.record();
        record_.header.begin();
        record_.header.canceled_by_identity = true;
        return rewritten_record_of(entry);
    }
    // As record_of(), but the record of a short event keeps all fields behind its header.
    [[gnu::always_inline]] EventRecord& rewritten_record_of(const PendingEntry& entry) noexcept {
        EventRecord& record = record_.header;
        if (entry.is_bare()) {
            write_header(record, entry, entry.bare_word());
            return record;
        }
        if (entry.has_record()) [[unlikely]]
            return *entry.record();
        detail::ShortBody* const body = entry.short_body();
        write_header(record, entry, body->word);
        std::memcpy(record_.payload, body->payload, sizeof record_.payload);
        free(body);
        return record;
    }
    bool is_record(const EventRecord& event) const noexcept { return &event == &record_.header; }
    // Bytes of all bodies, used or free. The memory of bodies is not freed before the end of the
    // run.
    std::size_t bytes() const noexcept { return bodies_made_ * sizeof(detail::ShortBody); }
    // The record of short events.
    EventRecord& record() noexcept { return record_.header; }

  private:
    void free(detail::ShortBody* body) noexcept {
        body->next = buffer_.free_bodies;
        buffer_.free_bodies = body;
    }
    template <class SendAway>
    void send(const PendingEntry& entry, SendAway&& send_away) {
        if (entry.is_bare()) {
            send_away(header_of(entry), nullptr);
        } else {
            send_away(header_of(entry), entry.short_body()->payload);
            free(entry.short_body());
        }
    }
    void make_bodies();

    std::array<detail::SentEvent, 64> sent_;
    detail::SendBuffer buffer_;
    struct {
        alignas(16) EventRecord header;
        std::byte payload[detail::ShortBody::payload_bytes_max];
    } record_;
    std::vector<std::unique_ptr<detail::ShortBody[]>> bodies_;
    std::size_t bodies_made_ = 0;
};

}  // namespace nw
