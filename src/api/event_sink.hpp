// SPDX-License-Identifier: Apache-2.0
// The interface through which a Context calls its engine, and the rules of schedule(), which all
// engines check alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <numawarp/ids.hpp>
#include <numawarp/time.hpp>

namespace nw {

class Context;
class Kinds;
class LpKinds;
class Random;
struct OutputValue;

// The limits of schedule(), fixed for a run.
struct ScheduleRules {
    std::uint32_t lps = 0;
    std::size_t payload_bytes_max = 0;
    VirtualTime lookahead = 0;
    const LpKinds* kinds = nullptr;  // outlives the run
};

namespace detail {

// The number of a table has 16 bits (SideEffect).
inline constexpr std::size_t output_tables_max = 65'536;

// The time of a scheduled event. The model has given one of the two values. The other value is
// computed from it and rounded.
struct ScheduledTime {
    VirtualTime delay;
    VirtualTime time;
};

// An event that a handler schedules. check_schedule() has accepted it.
struct ScheduledEvent {
    LpId target;
    ScheduledTime when;
    EventType type;
    std::span<const std::byte> payload;
    std::uint32_t first_generation;  // of the event's priority
};

struct SendBuffer;

class EventSink {
  public:
    // Throws ModelError if the event breaks a rule. Otherwise calls send().
    void schedule(const Context& context, LpId target, ScheduledTime when, EventType type,
                  std::span<const std::byte> payload);
    virtual void output(Context& context, std::size_t table, std::span<const OutputValue> row) = 0;

    const Kinds& kinds() const noexcept;
    VirtualTime lookahead() const noexcept { return rules_.lookahead; }

  protected:
    EventSink(const ScheduleRules& rules, std::uint64_t seed) noexcept
        : rules_(rules), seed_(seed) {}
    ~EventSink() = default;

    // This function and the next two functions are defined in api/make_context.hpp.
    Context make_context(VirtualTime now, std::uint32_t self,
                         std::uint64_t random_counter) noexcept;
    // `buffer` receives the handler's short events.
    Context make_context(VirtualTime now, std::uint32_t self, std::uint64_t random_counter,
                         SendBuffer& buffer) noexcept;
    // Reuses the context for another handler of the same sink. Requires: no handler uses the
    // context any more.
    static void renew(Context& context, VirtualTime now, std::uint32_t self,
                      std::uint64_t random_counter) noexcept;

  private:
    // Receives the events of the handler that is running.
    virtual void send(const ScheduledEvent& event) = 0;

    ScheduleRules rules_;
    std::uint64_t seed_;
};

// Throws ModelError unless the event may be scheduled. The message contains the LP, both times and
// the allowed values. The tests are inline, and the messages are made out of line.
[[noreturn, gnu::cold]] void schedule_refused(const ScheduleRules& rules, LpId self,
                                              VirtualTime now, LpId target, ScheduledTime when,
                                              std::size_t payload_bytes);

inline void check_schedule(const ScheduleRules& rules, LpId self, VirtualTime now, LpId target,
                           ScheduledTime when, std::size_t payload_bytes) {
    const bool is_allowed = when.delay >= (target == self ? 0.0 : rules.lookahead) &&
                            when.time < time_infinity && index(target) < rules.lps &&
                            payload_bytes <= rules.payload_bytes_max;
    if (!is_allowed) [[unlikely]]
        schedule_refused(rules, self, now, target, when, payload_bytes);
}

// Returns the generation of an event that is scheduled for `time` by an event of generation
// `parent` at `now`. `first` is the first generation of the event's priority. Throws ModelError if
// the chain of zero delays is too long for the 32 bits of a generation.
[[noreturn, gnu::cold]] void chain_too_long(VirtualTime now);

inline std::uint32_t generation_after(std::uint32_t parent, VirtualTime now, VirtualTime time,
                                      std::uint32_t first) {
    if (time != now) [[likely]]
        return first;
    if (parent == UINT32_MAX) [[unlikely]]
        chain_too_long(now);
    return std::max(first, parent + 1);
}

inline constexpr std::size_t smallest_page = 4096;

[[gnu::noinline, gnu::cold]] inline void touch_pages(std::span<const std::byte> payload) noexcept {
    for (std::size_t at = 0; at < payload.size(); at += smallest_page)
        static_cast<void>(*const_cast<const volatile std::byte*>(&payload[at]));
}

// Reads each page of the payload. If the payload's pointer is invalid, the handler fails here,
// before anything is allocated or counted for the event.
[[gnu::always_inline]] inline void touch(std::span<const std::byte> payload) noexcept {
    if (payload.empty()) return;
    static_cast<void>(*const_cast<const volatile std::byte*>(&payload.front()));
    static_cast<void>(*const_cast<const volatile std::byte*>(&payload.back()));
    if (payload.size() > smallest_page) [[unlikely]]
        touch_pages(payload);
}

// Returns the number of blocks of random numbers that a handler has drawn. Throws ModelError if a
// history entry cannot store the number, because a rollback could not restore it.
[[noreturn, gnu::cold]] void drawn_too_much();

inline std::uint32_t blocks_drawn(std::uint64_t before, std::uint64_t after) {
    if (after - before > UINT32_MAX) [[unlikely]]
        drawn_too_much();
    return static_cast<std::uint32_t>(after - before);
}

}  // namespace detail
}  // namespace nw
