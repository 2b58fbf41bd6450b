// SPDX-License-Identifier: Apache-2.0
#include "event/short_events.hpp"

#include <array>
#include <vector>

#include "tests/support/catch.hpp"

namespace nw {
namespace {

constexpr std::size_t largest = detail::ShortBody::payload_bytes_max;

// Sends an event from LP 3 to LP 5, as Context::schedule does.
void send(ShortEvents& events, VirtualTime time, EventType type, std::size_t payload_bytes) {
    detail::SendBuffer& buffer = events.buffer();
    std::uint64_t body_word = detail::SentEvent::bare_body(type);
    if (payload_bytes > 0) {
        detail::ShortBody* const body = buffer.free_bodies;
        REQUIRE(body != nullptr);
        for (std::size_t i = 0; i < payload_bytes; ++i)
            body->payload[i] = static_cast<std::byte>(payload_bytes + i);
        buffer.free_bodies = body->next;
        body->word = detail::SentEvent::word_of(type, payload_bytes);
        body_word = detail::SentEvent::body_at(body);
    }
    *buffer.next++ = {std::bit_cast<std::uint64_t>(time), std::uint64_t{3} << 32,
                      (*buffer.sequence)++ | std::uint64_t{5} << 32, body_word};
}

bool has_payload(const EventRecord& event, std::size_t payload_bytes) {
    if (event.payload_bytes != payload_bytes) return false;
    for (std::size_t i = 0; i < payload_bytes; ++i)
        if (event.payload()[i] != static_cast<std::byte>(payload_bytes + i)) return false;
    return true;
}

std::size_t free_bodies(ShortEvents& events) {
    std::size_t count = 0;
    for (const detail::ShortBody* body = events.buffer().free_bodies; body != nullptr;
         body = body->next)
        ++count;
    return count;
}

// The counters of a sending LP, with bodies for its first handler.
struct Sender {
    ShortEvents events;
    PendingSet pending;
    std::uint32_t sequence = 100;
    std::uint32_t serial = 200;

    explicit Sender(std::size_t payload_bytes_max = 1000)
        : events(time_infinity, 0, payload_bytes_max) {
        events.send_for(sequence);
        release();
    }
    void release() {
        events.release(
            serial, pending, [](std::uint32_t) { return true; },
            [](const EventHeader&, const std::byte*) { FAIL("this test has no other worker"); });
    }
};

}  // namespace

TEST_CASE("ShortEvents: an event of each size is received unchanged and its body is reused") {
    Sender sender;
    const std::size_t bodies = free_bodies(sender.events);
    REQUIRE(bodies > 0);
    for (std::size_t bytes = 0; bytes <= largest; ++bytes) {
        send(sender.events, 1, 7, bytes);
        sender.release();
        const PendingEntry* const top = sender.pending.top();
        REQUIRE(top != nullptr);
        CHECK_FALSE(top->has_record());
        CHECK(top->is_bare() == (bytes == 0));
        EventRecord& event = sender.events.record_of(*top);
        CHECK(sender.events.is_record(event));
        sender.pending.pop();
        CHECK(has_payload(event, bytes));
        CHECK(event.time == 1);
        CHECK(event.sender == 3);
        CHECK(event.target == 5);
        CHECK(event.type == 7);
        CHECK(event.sequence == 100 + bytes);
        CHECK(event.serial == 200 + bytes);
        CHECK(event.status == EventStatus::pending);
    }
    CHECK(free_bodies(sender.events) == bodies);
}

TEST_CASE("ShortEvents: new bodies are made when all are in use and no body is used twice") {
    Sender sender;
    const std::size_t bodies = free_bodies(sender.events);
    for (std::size_t i = 0; i < 3 * bodies; ++i) {
        send(sender.events, static_cast<VirtualTime>(1 + i % 10), 7, 1 + i % largest);
        if (i % 3 == 0 || sender.events.buffer().free_bodies == nullptr) sender.release();
    }
    sender.release();
    CHECK(sender.pending.size() == 3 * bodies);
    std::vector<bool> seen(3 * bodies);
    while (const PendingEntry* const top = sender.pending.top()) {
        const EventRecord& event = sender.events.record_of(*top);
        sender.pending.pop();
        const std::size_t i = event.sequence - 100;
        REQUIRE(i < seen.size());
        CHECK_FALSE(seen[i]);
        seen[i] = true;
        CHECK(has_payload(event, 1 + i % largest));
    }
    CHECK(free_bodies(sender.events) >= 3 * bodies);
}

TEST_CASE("ShortEvents: the sends of a failed handler are dropped with their bodies") {
    Sender sender;
    const std::size_t bodies = free_bodies(sender.events);
    send(sender.events, 1, 7, 0);
    send(sender.events, 1, 7, 8);
    send(sender.events, 1, 7, largest);
    CHECK(free_bodies(sender.events) == bodies - 2);
    CHECK(sender.events.drop() == 3);
    CHECK(free_bodies(sender.events) == bodies);
    sender.release();
    CHECK(sender.pending.empty());
}

TEST_CASE("ShortEvents: an event for another worker arrives there with its payload") {
    Sender sender;
    const std::size_t bodies = free_bodies(sender.events);
    Sender receiver;
    const std::size_t bodies_there = free_bodies(receiver.events);
    send(sender.events, 2, 7, 0);
    send(sender.events, 1, 7, largest);
    sender.events.release(
        sender.serial, sender.pending, [](std::uint32_t target) { return target != 5; },
        [&](const EventHeader& header, const std::byte* payload) {
            CHECK(receiver.events.push(header, payload, receiver.pending));
        });
    CHECK(sender.pending.empty());
    CHECK(free_bodies(sender.events) == bodies);
    CHECK(has_payload(receiver.events.record_of(*receiver.pending.top()), largest));
    receiver.pending.pop();
    const EventRecord& bare = receiver.events.record_of(*receiver.pending.top());
    CHECK(has_payload(bare, 0));
    CHECK(bare.serial == 200);
    receiver.pending.pop();
    CHECK(free_bodies(receiver.events) == bodies_there);

    EventHeader large{};
    large.payload_bytes = largest + 1;
    const std::array<std::byte, largest + 1> payload{};
    CHECK_FALSE(receiver.events.push(large, payload.data(), receiver.pending));
    CHECK(receiver.pending.empty());
}

TEST_CASE("ShortEvents: no body is made for a model whose events have no payload") {
    Sender bare(0);
    CHECK(free_bodies(bare.events) == 0);
    CHECK(bare.events.buffer().payload_bytes_max == 0);
    Sender eight(8);
    CHECK(eight.events.buffer().payload_bytes_max == 8);
}

}  // namespace nw
