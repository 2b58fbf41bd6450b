// SPDX-License-Identifier: Apache-2.0
// The engine may interrupt a handler between any two instructions. At each of these points, the
// events in the buffer of short events are complete, and their bodies are not free.
//
// Method: the trap flag of the x86 stops the handler after each instruction, and a signal handler
// examines the buffer at this point.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstring>
#include <span>

#include <numawarp/context.hpp>

#include "api/make_context.hpp"
#include "event/short_events.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

constexpr std::uint64_t trap_flag = 0x100;
constexpr std::size_t sends = 6;
constexpr std::uint64_t first_word = 0x1122334455667788;

VirtualTime time_of(std::size_t send) { return 10 + static_cast<double>(send); }
EventType type_of(std::size_t send) { return static_cast<EventType>(20 + send); }
std::size_t payload_bytes_of(std::size_t send) { return send % 3 * 8; }

class RefusingSink final : public detail::EventSink {
  public:
    RefusingSink() : EventSink({.lps = 10, .payload_bytes_max = 56}, 1) {}
    Context context(ShortEvents& events) { return make_context(0, 3, 0, events.buffer()); }

  private:
    void send(const detail::ScheduledEvent&) override { FAIL("each event of this test is short"); }
    void output(Context&, std::size_t, std::span<const OutputValue>) override {}
};

// The signal handler reads the first two members, and counts in the other members.
struct {
    detail::SentEvent* first;
    detail::SendBuffer* buffer;
    std::size_t steps, most_events, incomplete, free_bodies;
} seen;

bool is_free(const detail::ShortBody* body) {
    const detail::ShortBody* free = seen.buffer->free_bodies;
    while (free != nullptr && free != body) free = free->next;
    return free == body;
}

void examine(int) {
    ++seen.steps;
    const auto count = static_cast<std::size_t>(seen.buffer->next - seen.first);
    seen.most_events = std::max(seen.most_events, count);
    for (std::size_t i = 0; i < count; ++i) {
        // The body of an incomplete event may be any address.
        const auto entry = std::bit_cast<PendingEntry>(seen.first[i]);
        if (entry.time != time_of(i) || entry.target != i || entry.sender != 3 ||
            entry.is_bare() != (payload_bytes_of(i) == 0)) {
            ++seen.incomplete;
            continue;
        }
        const EventHeader event = header_of(entry);
        seen.incomplete +=
            event.type == type_of(i) && event.payload_bytes == payload_bytes_of(i) ? 0 : 1;
        if (entry.is_bare()) continue;
        seen.incomplete += std::memcmp(entry.short_body()->payload, &first_word, 8) == 0 ? 0 : 1;
        seen.free_bodies += is_free(entry.short_body()) ? 1 : 0;
    }
}

[[gnu::noinline]] void handler(Context& context, std::span<const std::byte> payload) {
    for (std::size_t i = 0; i < sends; ++i) {
        const LpId target{static_cast<std::uint32_t>(i)};
        if (payload_bytes_of(i) == 0)
            context.schedule(target, time_of(i), type_of(i));
        else if (payload_bytes_of(i) == 8)
            context.schedule(target, time_of(i), type_of(i), first_word);
        else
            context.schedule_bytes(target, time_of(i), type_of(i),
                                   payload.first(payload_bytes_of(i)));
    }
}

TEST_CASE("Context: an interruption finds only complete events in the buffer of short events") {
    RefusingSink sink;
    ShortEvents events(time_infinity, 0, 56);
    PendingSet pending;
    std::uint32_t sequence = 0, serial = 0;
    events.send_for(sequence);
    const auto release = [&] {
        events.release(
            serial, pending, [](std::uint32_t) { return true; },
            [](const EventHeader&, const std::byte*) {});
    };
    release();  // makes bodies
    Context context = sink.context(events);
    const std::array<std::uint64_t, 7> payload{first_word};

    seen = {events.buffer().next, &events.buffer(), 0, 0, 0, 0};
    struct sigaction stepping {};
    struct sigaction before;
    stepping.sa_handler = examine;
    REQUIRE(sigaction(SIGTRAP, &stepping, &before) == 0);
    __writeeflags(__readeflags() | trap_flag);
    handler(context, std::as_bytes(std::span(payload)));
    __writeeflags(__readeflags() & ~trap_flag);
    REQUIRE(sigaction(SIGTRAP, &before, nullptr) == 0);

    CHECK(seen.steps > 10 * sends);
    CHECK(seen.most_events == sends);
    CHECK(seen.incomplete == 0);
    CHECK(seen.free_bodies == 0);
    release();
    CHECK(pending.size() == sends);
}

}  // namespace
}  // namespace nw::test

#endif
