// The one thing through which a logical process acts on the world: it reads the clock, draws random
// numbers, schedules events and writes output. Everything done here is undone if the event is.
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

// One cell of an output row. A bool is 0 or 1; a char is a text of one character, while signed char and
// unsigned char (std::int8_t, std::uint8_t) are numbers. Text is UTF-8; bytes that are not become U+FFFD.
struct OutputValue {
    // What it is.
    enum class Kind : std::uint8_t {
        integer,   // with sign
        real,      // a double
        text,      // UTF-8
        natural,   // without sign
        character  // one byte
    };
    Kind kind;                 // which of them it is
    std::int64_t integer = 0;  // of an integer; the bits of a natural number, or the character
    double real = 0;           // of a real number
    std::string_view text{};   // of a text, referred to until the row is written down

    // Of a bool, a character or a whole number.
    template <class T>
        requires std::is_integral_v<T> OutputValue(T value)
            : kind(std::is_same_v<T, char> ? Kind::character
                   : std::is_unsigned_v<T> ? Kind::natural
                                           : Kind::integer),
              integer(static_cast<std::int64_t>(value)) {}
        // Of a real number; float becomes double.
        OutputValue(double value) : kind(Kind::real), real(value) {}
        // Of a text.
        OutputValue(std::string_view value) : kind(Kind::text), text(value) {}
        // Of a text that ends with a zero.
        OutputValue(const char* value) : kind(Kind::text), text(value) {}
        // Characters of wider kinds are neither numbers nor UTF-8.
        OutputValue(wchar_t) = delete;
        OutputValue(char8_t) = delete;
        OutputValue(char16_t) = delete;
        OutputValue(char32_t) = delete;
};

class Kinds;

namespace detail {
// Makes the linker look for the function in the library (numawarp/headers.hpp).
[[gnu::used]] inline void (*const same_headers)() noexcept = NUMAWARP_SAME_HEADERS;

class EventSink;  // what an engine puts behind a Context
}  // namespace detail

// An LP's access to the run, given to each hook and valid during that hook only.
class Context {
  public:
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // The time of the event; 0 in on_start(), the end of the run in on_end().
    VirtualTime now() const noexcept { return now_; }
    // The LP whose hook this is.
    LpId self() const noexcept { return self_; }
    // How many LPs the model has; their ids go from 0 to this less 1.
    std::uint32_t lps() const noexcept { return lps_; }
    // The kinds of LPs, and which numbers they have.
    const Kinds& kinds() const noexcept;
    // The LP's own stream of random numbers, rolled back with the event.
    Random& random() noexcept { return random_; }

    // Schedules an event for `target` at now() + delay. Events at equal times run in the order
    // (time, generation, sender, sender's sequence): zero delay is allowed and causal. The generation begins with
    // the priority.
    // Requires: delay finite and ≥ 0 (≥ the model's lookahead if it declares one and the target is
    // another LP), target < lps(), payload within the model's declared bound. A breach is a
    // ModelError: the run stops with exit code 3 if, and only if, this event is committed.
    void schedule(LpId target, VirtualTime delay, EventType type) {
        const VirtualTime time = now_ + delay;
        if (is_short(target, delay, time)) [[likely]]
            send(target, time, detail::SentEvent::bare_body(type));
        else
            schedule_by_call(target, delay, type, {});
    }
    // Before what is scheduled for the same time with a larger priority, but never before its own cause.
    void schedule(LpId target, VirtualTime delay, EventType type, Priority priority) {
        const InOrder order(*this, priority);
        schedule(target, delay, type);
    }

    // The same with a payload: any trivially copyable struct, of which a copy travels, with zeros where it has
    // padding.
    template <class Payload>
        requires std::is_trivially_copyable_v<Payload>
    void schedule(LpId target, VirtualTime delay, EventType type, const Payload& payload) {
        static_assert(!std::is_array_v<Payload>, "put the array into a struct");
        const auto bytes = detail::payload_bytes(payload);
        schedule_copy(target, delay, type, std::as_bytes(std::span(bytes)));
    }
    // With a payload and a priority.
    template <class Payload>
        requires std::is_trivially_copyable_v<Payload>
    void schedule(LpId target, VirtualTime delay, EventType type, const Payload& payload,
                  Priority priority) {
        const InOrder order(*this, priority);
        schedule(target, delay, type, payload);
    }

    // The same with a payload that is bytes already.
    void schedule_bytes(LpId target, VirtualTime delay, EventType type,
                        std::span<const std::byte> payload);
    // With bytes and a priority.
    void schedule_bytes(LpId target, VirtualTime delay, EventType type,
                        std::span<const std::byte> payload, Priority priority) {
        const InOrder order(*this, priority);
        schedule_bytes(target, delay, type, payload);
    }

    // As schedule_bytes(), for who knows the event's time and not the delay: now() + (time - now()) may be
    // another number than `time`, since both operations round.
    void schedule_bytes_at(LpId target, VirtualTime time, EventType type,
                           std::span<const std::byte> payload);

    // Appends a row to the model's output table number `table`. It reaches the file once the event
    // is committed. Requires: as many values as the table declares columns, texts of at most 16 MiB.
    template <class... Values>
    void output(std::size_t table, const Values&... values) {
        const OutputValue row[] = {OutputValue(values)...};
        output_row(table, row);
    }
    // The same for a row whose length is known at run time only.
    void output_row(std::size_t table, std::span<const OutputValue> row);

    // One word that belongs to the event being executed: what on_event leaves here, on_reverse
    // finds. Zero at the start of on_event. Only with --rollback reverse is it kept.
    std::uint64_t& control() noexcept { return control_; }

  private:
    friend class detail::EventSink;

    bool is_short(LpId target, VirtualTime delay, VirtualTime time) const noexcept {
        const detail::SendBuffer& buffer = *buffer_;
        return time > now_ && time < buffer.before && index(target) < lps_ &&
               (delay >= buffer.lookahead || target == self_) && buffer.next != buffer.end;
    }
    void send(LpId target, VirtualTime time, std::uint64_t body) noexcept {
        detail::SendBuffer& buffer = *buffer_;
        *buffer.next++ = {std::bit_cast<std::uint64_t>(time),
                          first_generation_ | std::uint64_t{index(self_)} << 32,
                          (*buffer.sequence)++ | std::uint64_t{index(target)} << 32, body};
    }
    // `Bytes`: a span. Where its size is a constant, the copy is a few moves between registers and memory.
    template <class Bytes>
    void schedule_copy(LpId target, VirtualTime delay, EventType type, Bytes payload) {
        detail::SendBuffer& buffer = *buffer_;
        detail::ShortBody* const body = buffer.free_bodies;
        const VirtualTime time = now_ + delay;
        if (payload.size() <= buffer.payload_bytes_max && body != nullptr &&
            is_short(target, delay, time)) [[likely]] {
            // The copy comes first: where the payload is a bad pointer of the model, nothing has been taken.
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

    // What is scheduled meanwhile has that priority. Throws ModelError if there is none such.
    class InOrder {
      public:
        InOrder(Context& context, Priority priority);
        ~InOrder() { context_.first_generation_ = 0; }
        InOrder(const InOrder&) = delete;
        InOrder& operator=(const InOrder&) = delete;

      private:
        Context& context_;
    };

    Context(detail::EventSink& sink, detail::SendBuffer& buffer, VirtualTime now, LpId self,
            std::uint32_t lps, Random random) noexcept
        : sink_(&sink), buffer_(&buffer), now_(now), random_(random), self_(self), lps_(lps) {}

    detail::EventSink* sink_;
    detail::SendBuffer* buffer_;
    VirtualTime now_;
    std::uint64_t control_ = 0;
    Random random_;
    LpId self_;
    std::uint32_t lps_;
    std::uint32_t first_generation_ = 0;  // of what is scheduled
};

}  // namespace nw
