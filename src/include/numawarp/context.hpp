// SPDX-License-Identifier: Apache-2.0
// The only interface through which an LP affects the simulation. Through it, a handler reads the
// clock, draws random numbers, schedules events and writes output. When the event is rolled back,
// the engine undoes all of these effects.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include <numawarp/headers.hpp>
#include <numawarp/ids.hpp>
#include <numawarp/payload_bytes.hpp>
#include <numawarp/random.hpp>
#include <numawarp/send_buffer.hpp>
#include <numawarp/time.hpp>

namespace nw {

// One cell of an output row. A bool is 0 or 1. A char is a text of one character; signed char and
// unsigned char (std::int8_t, std::uint8_t) are numbers. Text is UTF-8; bytes that are not UTF-8
// become U+FFFD.
struct OutputValue {
    // The type of a value.
    enum class Kind : std::uint8_t {
        integer,   // a signed whole number
        real,      // a double
        text,      // UTF-8
        natural,   // an unsigned whole number
        character  // one byte
    };
    Kind kind;  // the type of this value
    // The value of an integer, the bits of a natural number, or the character.
    std::int64_t integer = 0;
    double real = 0;          // the value of a real number
    std::string_view text{};  // a text; must stay valid until output() has returned

    // From a bool, a character or a whole number.
    template <class T>
        requires std::is_integral_v<T> OutputValue(T value)
            : kind(std::is_same_v<T, char> ? Kind::character
                   : std::is_unsigned_v<T> ? Kind::natural
                                           : Kind::integer),
              integer(static_cast<std::int64_t>(value)) {}
        // From a real number; a float becomes a double.
        OutputValue(double value) : kind(Kind::real), real(value) {}
        // From a text.
        OutputValue(std::string_view value) : kind(Kind::text), text(value) {}
        // From a text that ends with a zero byte.
        OutputValue(const char* value) : kind(Kind::text), text(value) {}
        // Deleted: characters of wider types are neither numbers nor UTF-8.
        OutputValue(wchar_t) = delete;
        OutputValue(char8_t) = delete;
        OutputValue(char16_t) = delete;
        OutputValue(char32_t) = delete;
};

class Kinds;

namespace detail {
// Makes the linker search the library for a function whose name identifies these headers
// (numawarp/headers.hpp).
[[gnu::used]] inline void (*const same_headers)() noexcept = NUMAWARP_SAME_HEADERS;

class EventSink;  // the engine's side of a Context
}  // namespace detail

// An LP's access to the run. Each handler receives a Context, which is valid during this handler
// only.
class Context {
  public:
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // The time of the event; 0 in on_start(), the end of the run in on_end().
    VirtualTime now() const noexcept { return now_; }
    // The LP whose handler is running.
    LpId self() const noexcept {
        return LpId{static_cast<std::uint32_t>(generation_and_self_ >> 32)};
    }
    // The number of LPs of the model. Their ids are 0 to lps() - 1.
    std::uint32_t lps() const noexcept { return lps_; }
    // The kinds of LPs and the ranges of their numbers.
    const Kinds& kinds() const noexcept;
    // The LP's own stream of random numbers. The draws are rolled back with the event.
    Random& random() noexcept { return random_; }

    // Schedules an event for `target` at now() + delay. Events at equal times are executed in the
    // order (time, generation, sender, sequence of the sender). A delay of zero is allowed: the new
    // event is executed after the running event. The generation of an event follows from its
    // priority. An event at now() also has a larger generation than the event that schedules it.
    //
    // Requires: the delay is finite and ≥ 0; if the target is another LP, the delay is also ≥ the
    // lookahead that the model declares; target < lps(); the payload is within the bound that the
    // model declares. A breach throws ModelError: the run stops with exit code 3 if, and only if,
    // the running event is committed. These rules hold for all functions that schedule events.
    void schedule(LpId target, VirtualTime delay, EventType type) {
        const VirtualTime time = now_ + delay;
        if (is_short(target, delay, time)) [[likely]]
            send(target, time, detail::SentEvent::bare_body(type));
        else
            schedule_by_call(target, delay, type, {});
    }
    // Schedules an event with a priority. Of several events at the same time, the event with the
    // smaller priority number is executed first, but never before the event that scheduled it.
    // Throws ModelError if the priority is above priority_max.
    void schedule(LpId target, VirtualTime delay, EventType type, Priority priority) {
        const InOrder order(*this, priority);
        schedule(target, delay, type);
    }

    // Schedules an event with a payload: any trivially copyable struct. The event contains a copy
    // of the struct, with zeros in its padding.
    template <class Payload>
        requires std::is_trivially_copyable_v<Payload>
    void schedule(LpId target, VirtualTime delay, EventType type, const Payload& payload) {
        static_assert(!std::is_array_v<Payload>,
                      "an array cannot be a payload: put it into a struct");
        const auto bytes = detail::payload_bytes(payload);
        schedule_copy(target, delay, type, std::as_bytes(std::span(bytes)));
    }
    // Schedules an event with a payload and a priority.
    template <class Payload>
        requires std::is_trivially_copyable_v<Payload>
    void schedule(LpId target, VirtualTime delay, EventType type, const Payload& payload,
                  Priority priority) {
        const InOrder order(*this, priority);
        schedule(target, delay, type, payload);
    }

    // Schedules an event whose payload is given as bytes.
    void schedule_bytes(LpId target, VirtualTime delay, EventType type,
                        std::span<const std::byte> payload);
    // Schedules an event with a payload of bytes and a priority.
    void schedule_bytes(LpId target, VirtualTime delay, EventType type,
                        std::span<const std::byte> payload, Priority priority) {
        const InOrder order(*this, priority);
        schedule_bytes(target, delay, type, payload);
    }

    // As schedule_bytes(), but with the time of the event instead of the delay. A model cannot
    // compute the delay itself: now() + (time - now()) may differ from `time`, because both
    // operations round.
    void schedule_bytes_at(LpId target, VirtualTime time, EventType type,
                           std::span<const std::byte> payload);

    // Appends a row to the model's output table with index `table`. The row reaches the file when
    // the event is committed. Requires: as many values as the table has columns, and texts of at
    // most 16 MiB; a breach throws ModelError.
    template <class... Values>
    void output(std::size_t table, const Values&... values) {
        const OutputValue row[] = {OutputValue(values)...};
        output_row(table, row);
    }
    // Appends a row whose length is known only at run time.
    void output_row(std::size_t table, std::span<const OutputValue> row);

    // A word of 64 bits that belongs to the event that is being executed. If on_event() stores a
    // value in this word, on_reverse() of the same event can read the value. The word is zero at
    // the start of on_event(). It is kept only with --rollback reverse.
    std::uint64_t& control() noexcept { return control_; }

  private:
    friend class detail::EventSink;

    bool is_short(LpId target, VirtualTime delay, VirtualTime time) const noexcept {
        const detail::SendBuffer& buffer = *buffer_;
        return time > now_ && time < buffer.before && index(target) < lps_ &&
               (delay >= buffer.lookahead || target == self()) && buffer.next != buffer.end;
    }
    void send(LpId target, VirtualTime time, std::uint64_t body) noexcept {
        detail::SendBuffer& buffer = *buffer_;
        detail::SentEvent* event = buffer.next;
        *event = {std::bit_cast<std::uint64_t>(time), generation_and_self_,
                  (*buffer.sequence)++ | std::uint64_t{index(target)} << 32, body};
        // The engine may interrupt the handler between any two instructions. The event must be
        // complete, and its body must not be in the list of free bodies, before the buffer contains
        // the event.
        asm volatile("" : "+r"(event) : "m"(*event), "m"(buffer.free_bodies));
        buffer.next = event + 1;
    }
    // `Bytes`: a span. If its size is constant, the copy is a few moves between registers and
    // memory.
    template <class Bytes>
    void schedule_copy(LpId target, VirtualTime delay, EventType type, Bytes payload) {
        detail::SendBuffer& buffer = *buffer_;
        detail::ShortBody* const body = buffer.free_bodies;
        const VirtualTime time = now_ + delay;
        if (payload.size() <= buffer.payload_bytes_max && body != nullptr &&
            is_short(target, delay, time)) [[likely]] {
            // Copy first: if the payload is a bad pointer of the model, the handler fails here,
            // before a body is taken from the list.
            std::memcpy(body->payload, payload.data(), payload.size());
            buffer.free_bodies = body->next;
            body->word = detail::SentEvent::word_of(type, payload.size());
            send(target, time, detail::SentEvent::body_at(body));
        } else {
            schedule_by_call(target, delay, type, payload);
        }
    }
    void schedule_by_call(LpId target, VirtualTime delay, EventType type,
                          std::span<const std::byte> payload);

    // All events that are scheduled during the lifetime of an InOrder object have the priority of
    // this object. Throws ModelError if the priority is above priority_max.
    class InOrder {
      public:
        InOrder(Context& context, Priority priority);
        ~InOrder() { context_.set_first_generation(0); }
        InOrder(const InOrder&) = delete;
        InOrder& operator=(const InOrder&) = delete;

      private:
        Context& context_;
    };

    Context(detail::EventSink& sink, detail::SendBuffer& buffer, VirtualTime now, LpId self,
            std::uint32_t lps, Random random) noexcept
        : sink_(&sink),
          buffer_(&buffer),
          now_(now),
          generation_and_self_(std::uint64_t{index(self)} << 32),
          random_(random),
          lps_(lps) {}

    std::uint32_t first_generation() const noexcept {
        return static_cast<std::uint32_t>(generation_and_self_);
    }
    void set_first_generation(std::uint32_t generation) noexcept {
        generation_and_self_ = std::uint64_t{index(self())} << 32 | generation;
    }

    detail::EventSink* sink_;
    detail::SendBuffer* buffer_;
    VirtualTime now_;
    std::uint64_t control_ = 0;
    // The first generation of the events that are scheduled now, and self(), in the layout of
    // SentEvent.
    std::uint64_t generation_and_self_;
    Random random_;
    std::uint32_t lps_;
};

}  // namespace nw
