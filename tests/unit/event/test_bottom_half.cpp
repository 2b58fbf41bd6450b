// SPDX-License-Identifier: Apache-2.0
// Tests bottom halves. The bytes that were pushed are drained, in whichever area the buffers are.
// The bytes of a buffer are in the required area. Idle bottom halves have no memory.
#include "event/bottom_half.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "event/wire_event.hpp"
#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/unit/memory/resident_pages.hpp"
#include "tests/unit/memory/small_slots.hpp"

using namespace nw;
using test::resident_pages;

namespace {

constexpr std::size_t small_bytes = SlotLayout::mail_small_bytes;

// A group with mail. The group's slot is small, so that the test can query all pages of the slot. A
// large area has 128 KiB.
struct Mailbox {
    explicit Mailbox(MemoryMode mode = MemoryMode::numa)
        : source(mode == MemoryMode::numa ? kernel.os : linux_os(), mode, test::SmallSlots::groups),
          memory(source, GroupId{1}),
          mail(1, memory.mail()) {}

    std::size_t touched(MailBufferId buffer, MailArea area) const {
        return memory.mail().touched_bytes(buffer, area);
    }
    std::size_t resident() const { return resident_pages(source.region()->slot(GroupId{1})); }
    void push(std::span<const std::byte> bytes) { mail.push(bytes.data(), bytes.size(), ready); }
    std::span<const std::byte> drain() {
        REQUIRE(ready.take_all() == &mail);
        return mail.drain();
    }

    test::SmallSlots kernel;
    MemorySource source;
    GroupMemory memory;
    ReadyList ready;
    BottomHalf mail;
};

// Bytes with a different value in each word. A buffer does not interpret the bytes.
std::vector<std::byte> bytes_of(std::size_t size, std::uint64_t mark) {
    std::vector<std::byte> bytes((size + 7) / 8 * 8);
    for (std::size_t i = 0; i < bytes.size(); i += 8, mark += 0x9e3779b97f4a7c15)
        std::memcpy(&bytes[i], &mark, 8);
    return bytes;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

TEST_CASE("BottomHalf: in every era, drain() returns the pushed bytes in order, for all sizes") {
    const auto mode = GENERATE(MemoryMode::numa, MemoryMode::libc);
    Mailbox box(mode);
    for (const std::uint64_t seed : test::test_seeds(3)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        for (int era = 0; era < 60; ++era) {
            const std::size_t total = dice.chance(0.5) ? dice.below(2000) : dice.below(600'000);
            std::vector<std::byte> expected;
            while (expected.size() <= total) {
                const auto some = bytes_of(1 + dice.below(dice.chance(0.1) ? 20'000 : 2000), seed);
                box.push(some);
                expected.insert(expected.end(), some.begin(), some.end());
            }
            REQUIRE(same(box.drain(), expected));
            REQUIRE(box.ready.take_all() == nullptr);
            if (dice.chance(0.3)) box.mail.trim();
        }
    }
    // In NUMA mode, the mail of some eras was too large for the slot.
    CHECK((box.memory.mail().spilled_bytes() > 0) == (mode == MemoryMode::numa));
    CHECK((box.touched(MailBufferId::a, MailArea::large) > 0) == (mode == MemoryMode::numa));
}

TEST_CASE(
    "BottomHalf: a growing buffer uses its small area and then its large area and then libc") {
    Mailbox box;
    REQUIRE(box.source.region()->slot_bytes() == std::size_t{2} << 20);
    const auto small = box.memory.mail().area(MailBufferId::a, MailArea::small);
    const auto large = box.memory.mail().area(MailBufferId::a, MailArea::large);
    // Pushes in two eras, so that the next call uses this buffer again. Returns where the mail of
    // the first era was.
    const auto drained_at = [&](std::size_t bytes) {
        const auto sent = bytes_of(bytes, bytes);
        box.push(sent);
        const auto got = box.drain();
        CHECK(same(got, sent));
        box.push(bytes_of(8, 1));
        box.drain();
        return got.data();
    };
    CHECK(drained_at(8) == small.data());
    CHECK(drained_at(small.size()) == small.data());
    CHECK(box.touched(MailBufferId::a, MailArea::large) == 0);
    CHECK(drained_at(small.size() + 8) == large.data());
    CHECK(drained_at(8) == large.data());  // the buffer does not return immediately
    CHECK(drained_at(large.size()) == large.data());
    CHECK(box.memory.mail().spilled_bytes() == 0);
    CHECK_FALSE(Region::contains(drained_at(large.size() + 8)));
    CHECK(box.memory.mail().spilled_bytes() == 2 * large.size());
}

TEST_CASE("BottomHalf: the contents of a buffer are unchanged while it grows through all areas") {
    Mailbox box;
    std::vector<std::byte> expected;
    for (std::uint64_t n = 0; expected.size() < std::size_t{1} << 20; ++n) {
        const auto some = bytes_of(1000, n);
        box.push(some);
        expected.insert(expected.end(), some.begin(), some.end());
    }
    CHECK(box.touched(MailBufferId::a, MailArea::small) == small_bytes);
    CHECK(box.touched(MailBufferId::a, MailArea::large) == 2 * small_bytes);
    CHECK(box.memory.mail().spilled_bytes() > 0);
    CHECK(same(box.drain(), expected));
}

TEST_CASE("BottomHalf: swaps do not change the areas of the two buffers") {
    Mailbox box;
    const auto a = box.memory.mail().area(MailBufferId::a, MailArea::small).data();
    const auto b = box.memory.mail().area(MailBufferId::b, MailArea::small).data();
    const auto sent = bytes_of(40, 1);
    for (int era = 0; era < 10; ++era) {
        box.push(sent);
        CHECK(box.drain().data() == (era % 2 == 0 ? a : b));
        box.mail.trim();
    }
}

TEST_CASE(
    "BottomHalf: a buffer without mail has no page and a buffer with little mail has one page") {
    Mailbox box;
    const std::size_t before = box.resident();
    box.mail.trim();
    CHECK(box.resident() == before);
    const auto sent = bytes_of(48, 1);
    for (int era = 0; era < 1000; ++era) {
        box.push(sent);
        box.drain();
    }
    CHECK(box.resident() == before + 2);
    CHECK(box.memory.mail().touched_bytes() == 2 * page_bytes);
}

TEST_CASE("BottomHalf: the touched ranges contain every page that was written") {
    for (const std::uint64_t seed : test::test_seeds(3)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        Mailbox box;
        for (int step = 0; step < 200; ++step) {
            box.push(bytes_of(1 + dice.below(6000), seed));
            if (dice.chance(0.1)) box.drain();
            std::size_t pages = 0;
            box.memory.mail().for_each_touched_range([&](std::byte* base, std::size_t bytes) {
                pages += resident_pages({base, bytes});
            });
            REQUIRE(box.resident() == pages);
            REQUIRE(pages * page_bytes == box.memory.mail().touched_bytes());
        }
    }
}

TEST_CASE("BottomHalf: trim() releases memory if no mail has arrived since the last trim()") {
    Mailbox box;
    const std::size_t before = box.resident();
    for (int buffer = 0; buffer < 2; ++buffer) {
        box.push(bytes_of(100'000, 1));
        box.drain();
    }
    const std::size_t held = box.resident();
    REQUIRE(held >= before + 50);
    box.mail.trim();
    CHECK(box.resident() == held);  // mail came since the last trim()
    box.mail.trim();
    CHECK(box.resident() == before);
    CHECK(box.memory.mail().touched_bytes() == 0);

    const auto sent = bytes_of(64, 2);
    box.push(sent);
    CHECK(same(box.drain(), sent));
    CHECK(box.resident() == before + 1);
}

TEST_CASE("BottomHalf: trim() keeps mail that has not been drained") {
    Mailbox box;
    box.push(bytes_of(64, 1));
    box.drain();
    box.mail.trim();
    const auto sent = bytes_of(5000, 2);
    box.push(sent);
    box.mail.trim();
    box.mail.trim();
    CHECK(same(box.drain(), sent));
}

TEST_CASE("BottomHalf: trim() also releases memory from libc") {
    Mailbox box(MemoryMode::libc);
    const auto sent = bytes_of(300'000, 1);
    for (int round = 0; round < 3; ++round) {
        box.push(sent);
        CHECK(same(box.drain(), sent));
        box.mail.trim();
        box.mail.trim();
    }
    CHECK(box.memory.mail().touched_bytes() == 0);
    CHECK(box.memory.mail().spilled_bytes() == 0);
}

TEST_CASE("BottomHalf: only a buffer that needs little for a long time returns to its small area") {
    Mailbox box;
    const auto much = bytes_of(small_bytes + 8, 1);
    const auto little = bytes_of(64, 2);
    const auto run = [&](int eras, int much_every) {
        for (int era = 0; era < eras; ++era) {
            box.push(era % much_every < 2 ? much : little);  // two eras: both buffers
            box.drain();
        }
    };
    const auto large_pages = [&] {
        return box.touched(MailBufferId::a, MailArea::large) +
               box.touched(MailBufferId::b, MailArea::large);
    };
    run(10'000, 500);
    CHECK(large_pages() >= 2 * small_bytes);
    const auto large = box.memory.mail().area(MailBufferId::a, MailArea::large);
    CHECK(resident_pages(large) == small_bytes / page_bytes + 1);
    run(10'000, 10'000);
    CHECK(large_pages() == 0);
    CHECK(resident_pages(large) == 0);
    box.push(little);
    CHECK(same(box.drain(), little));
}

TEST_CASE(
    "BottomHalf: with many writers, and an owner that trims, every event arrives once and in "
    "order") {
    // Each writer numbers its events. The owner checks that the numbers of each writer increase by
    // one. Meanwhile, another thread reads the touched bytes, as the migration daemon does.
    constexpr std::uint32_t writers = 4, events_each = 30'000;
    Mailbox box;
    std::atomic<std::uint32_t> writing{writers};
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (std::uint32_t w = 0; w < writers; ++w) {
        threads.emplace_back([&, w] {
            std::vector<std::byte> event(sizeof(WireEvent) + 256);
            WireEvent header{};
            header.sender = w;
            for (std::uint32_t n = 0; n < events_each; ++n) {
                header.sequence = n;
                header.payload_bytes = static_cast<std::uint16_t>(n * 7 % 250);
                std::memcpy(event.data(), &header, sizeof header);
                box.mail.push(event.data(), header.bytes(), box.ready);
                if (n % 5000 == 0) std::this_thread::yield();
            }
            --writing;
        });
    }
    std::size_t touched_max = 0;
    threads.emplace_back([&] {
        while (!done) touched_max = std::max(touched_max, box.memory.mail().touched_bytes());
    });

    std::vector<std::uint32_t> next(writers, 0);
    std::uint32_t out_of_order = 0;
    for (std::uint64_t turn = 0;; ++turn) {
        const bool last = writing == 0;  // read before take_all(): then all written mail is listed
        for (BottomHalf* mail = box.ready.take_all(); mail != nullptr; mail = nullptr) {
            const auto events = mail->drain();
            for_each_wire_event(events.data(), events.size(), [&](const WireEvent& wire) {
                out_of_order += wire.sequence != next[wire.sender]++;
            });
        }
        box.mail.trim();
        if (turn % 64 == 0) std::this_thread::yield();
        if (last && box.ready.empty()) break;
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(out_of_order == 0);
    CHECK(next == std::vector<std::uint32_t>(writers, events_each));
    CHECK(touched_max > 0);
    box.mail.trim();
    box.mail.trim();
    CHECK(box.memory.mail().touched_bytes() == 0);
}
