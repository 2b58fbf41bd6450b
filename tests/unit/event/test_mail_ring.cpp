// SPDX-License-Identifier: Apache-2.0
// Compares a mail ring with a queue. The ring delivers the published events in order, and refuses
// an event for which it has no room.
#include "event/mail_ring.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;

namespace {

WireEvent event_of(std::uint32_t serial, std::size_t payload_bytes) {
    WireEvent wire{};
    wire.time = serial;
    wire.serial = serial;
    wire.payload_bytes = static_cast<std::uint16_t>(payload_bytes);
    return wire;
}

std::vector<std::byte> payload_of(std::uint32_t serial, std::size_t bytes) {
    return std::vector<std::byte>(bytes, static_cast<std::byte>(serial));
}

bool append(MailRing& ring, std::uint32_t serial, std::size_t bytes) {
    const std::vector<std::byte> payload = payload_of(serial, bytes);
    return ring.append(event_of(serial, bytes), bytes == 0 ? nullptr : payload.data());
}

void require_event(const WireEvent& wire, std::uint32_t serial) {
    REQUIRE(wire.serial == serial);
    const std::vector<std::byte> payload = payload_of(serial, wire.payload_bytes);
    REQUIRE(std::equal(payload.begin(), payload.end(), wire.payload()));
}

}  // namespace

TEST_CASE("MailRing: events arrive complete and in order over many laps of the buffer") {
    const std::uint64_t seed = test::test_seeds(1).front();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto ring = std::make_unique<MailRing>();
    std::deque<std::uint32_t> expected;
    std::uint32_t next = 0;
    std::size_t refused = 0;
    for (int step = 0; step < 20'000; ++step) {
        for (std::uint32_t n = random() % 200; n > 0; --n) {
            if (append(*ring, next, random() % 100))
                expected.push_back(next++);
            else
                ++refused;
        }
        const bool is_published = random() % 4 != 0;
        if (is_published) ring->publish();
        if (random() % 3 == 0) continue;
        ring->drain([&](const WireEvent& wire) {
            REQUIRE(!expected.empty());
            require_event(wire, expected.front());
            expected.pop_front();
        });
        if (is_published) REQUIRE(expected.empty());
    }
    CHECK(refused > 0);
    CHECK(next > 10 * MailRing::capacity / sizeof(WireEvent));
}

TEST_CASE("MailRing: an event is invisible before it is published") {
    const auto ring = std::make_unique<MailRing>();
    REQUIRE(append(*ring, 1, 8));
    CHECK(ring->empty());
    CHECK_FALSE(ring->drain([](const WireEvent&) { FAIL(); }));
    ring->publish();
    CHECK_FALSE(ring->empty());
    CHECK(ring->drain([](const WireEvent& wire) { require_event(wire, 1); }));
    CHECK(ring->empty());
}

TEST_CASE("MailRing: an event without room is refused and changes nothing") {
    const auto ring = std::make_unique<MailRing>();
    CHECK_FALSE(append(*ring, 0, MailRing::event_bytes_max));
    std::uint32_t appended = 0;
    while (append(*ring, appended, 24)) ++appended;
    CHECK(appended == MailRing::capacity / (sizeof(WireEvent) + 24));
    ring->publish();
    std::uint32_t next = 0;
    ring->drain([&](const WireEvent& wire) { require_event(wire, next++); });
    CHECK(next == appended);
    CHECK(append(*ring, appended, 24));
}

TEST_CASE("MailRing: one writer and one reader run concurrently") {
    constexpr std::uint32_t events = 200'000;
    const auto ring = std::make_unique<MailRing>();
    std::thread writer([&] {
        for (std::uint32_t i = 0; i < events;) {
            for (std::uint32_t n = i % 17 + 1; n > 0 && i < events; --n)
                if (append(*ring, i, i % 57)) ++i;
            ring->publish();
            std::this_thread::yield();
        }
    });
    std::uint32_t next = 0;
    bool is_in_order = true;
    while (next < events)
        if (!ring->drain([&](const WireEvent& wire) { is_in_order &= wire.serial == next++; }))
            std::this_thread::yield();
    writer.join();
    CHECK(is_in_order);
}
