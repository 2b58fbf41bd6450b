// SPDX-License-Identifier: Apache-2.0
// Mail from one worker to another worker of the same rank: a ring of wire events with one writer
// and one reader. With a bottom half, several cache lines move between the two workers for each
// event. With a ring, only the lines of the event itself move, and one more line for all events
// that the writer publishes together.
//
// The ring does not grow. The writer sends large events, and events for which the ring has no room,
// to the bottom half of their group (bottom_half.hpp).
//
// Positions count bytes and never wrap; position % capacity is the index in the buffer. An event is
// never split: after `capacity` bytes, the buffer has room for the end of one event.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "event/wire_event.hpp"
#include "util/handoff.hpp"

namespace nw {

class MailRing {
  public:
    // A batch of 128 events without payload takes 5 KiB.
    static constexpr std::size_t capacity = std::size_t{16} << 10;
    static constexpr std::size_t event_bytes_max = 256;

    // Thread: the reader, so that the ring's pages are on the reader's NUMA node.
    MailRing() = default;
    MailRing(const MailRing&) = delete;
    MailRing& operator=(const MailRing&) = delete;

    // Thread: the writer. Returns false if the event is too large or the ring is full. `payload`:
    // null if there is none.
    bool append(const WireEvent& header, const std::byte* payload) noexcept {
        const std::size_t bytes = header.bytes();
        if (bytes > event_bytes_max || !has_room(bytes)) [[unlikely]]
            return false;
        std::byte* const at = bytes_ + written_ % capacity;
        std::memcpy(at, &header, sizeof header);
        if (payload != nullptr) std::memcpy(at + sizeof header, payload, header.payload_bytes);
        written_ += bytes;
        return true;
    }
    // Thread: the writer. Makes the appended events visible to the reader.
    void publish() noexcept {
        note_handoff(Handoff::mail_pushed);
        // Sequentially consistent, as are empty() and the marks of a sleeping reader
        // (numa/os/wake_signal.hpp).
        published_.store(written_);
    }

    // Thread: the reader. Calls visit(const WireEvent&) for each published event. Returns whether
    // there were any events.
    template <class Visit>
    bool drain(Visit&& visit) {
        // Pairs with publish().
        const std::uint64_t end = published_.load(std::memory_order_acquire);
        if (read_ == end) [[likely]]
            return false;
        note_handoff(Handoff::mail_taken);
        while (read_ != end) {
            const auto& wire = *reinterpret_cast<const WireEvent*>(bytes_ + read_ % capacity);
            read_ += wire.bytes();
            visit(wire);
        }
        released_.store(read_, std::memory_order_release);  // pairs with has_room()
        return true;
    }
    // Thread: the reader, before it sleeps.
    bool empty() const noexcept { return published_.load() == read_; }

  private:
    bool has_room(std::size_t bytes) noexcept {
        if (written_ + bytes - released_seen_ <= capacity) [[likely]]
            return true;
        released_seen_ = released_.load(std::memory_order_acquire);  // pairs with drain()
        return written_ + bytes - released_seen_ <= capacity;
    }

    // Used by the writer only.
    alignas(64) std::uint64_t written_ = 0;
    std::uint64_t released_seen_ = 0;
    alignas(64) std::atomic<std::uint64_t> published_{0};  // writer → reader
    alignas(64) std::atomic<std::uint64_t> released_{0};   // reader → writer
    std::uint64_t read_ = 0;                               // used by the reader only
    alignas(64) std::byte bytes_[capacity + event_bytes_max]{};
};

}  // namespace nw
