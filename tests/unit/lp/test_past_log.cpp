// SPDX-License-Identifier: Apache-2.0
// Compares the log of a worker with a list of its entries. Entries are appended, committed and
// taken out of the middle. They are copied when the ring grows or shrinks.
#include "lp/past_log.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/random_cases.hpp"
#include "util/check.hpp"

namespace nw::test {
namespace {

constexpr std::size_t undo_bytes = 24, state_bytes_max = 32, payload_bytes_max = 56;
constexpr std::uint32_t lps = 5;

class LogOfLps {
  public:
    explicit LogOfLps(std::size_t capacity_least = 0)
        : log(undo_bytes, state_bytes_max, payload_bytes_max, capacity_least) {
        for (std::uint32_t i = 0; i < lps; ++i) lp.emplace_back(memory_, i, 0);
    }

    // Appends an entry whose content follows from its time and its sizes.
    void append(std::uint32_t target, VirtualTime time, std::size_t payload, std::uint32_t sends) {
        LogEntry& entry = log.begin(sends);
        entry.event = {};
        entry.event.time = time;
        entry.event.target = target;
        entry.event.payload_bytes = static_cast<std::uint16_t>(payload);
        entry.flags = 0;
        entry.record = nullptr;
        entry.sent_count = entry.sends = sends;
        std::memset(entry.undo(), mark(time), undo_bytes);
        entry.state_bytes = state_bytes(time);
        std::memset(log.state_of(entry), mark(time), entry.state_bytes);
        std::byte* end = log.payload_of(entry);
        std::memset(end, mark(time), payload);
        end += (payload + 7) / 8 * 8;
        for (std::uint32_t i = 0; i < sends; ++i, end += sizeof(EventHeader)) {
            EventHeader header{};
            header.serial = i + mark(time);
            std::memcpy(end, &header, sizeof header);
        }
        log.append(lp[target], entry, end);
    }

    void check(LogEntry& entry, std::uint32_t target, VirtualTime time, std::uint32_t sends) {
        REQUIRE(entry.event.time == time);
        REQUIRE(entry.lp == &lp[target]);
        REQUIRE(entry.undo()[undo_bytes - 1] == static_cast<std::byte>(mark(time)));
        REQUIRE(entry.state_bytes == state_bytes(time));
        if (entry.state_bytes > 0)
            REQUIRE(log.state_of(entry)[entry.state_bytes - 1u] ==
                    static_cast<std::byte>(mark(time)));
        const std::size_t payload = entry.event.payload_bytes;
        if (payload > 0)
            REQUIRE(log.payload_of(entry)[payload - 1] == static_cast<std::byte>(mark(time)));
        REQUIRE(entry.sends == sends);
        for (std::uint32_t i = 0; i < sends; ++i)
            REQUIRE(entry.first_send()[i].serial == i + mark(time));
    }

    static std::uint8_t mark(VirtualTime time) {
        return static_cast<std::uint8_t>(static_cast<std::uint64_t>(time) * 7);
    }
    static std::uint16_t state_bytes(VirtualTime time) {
        return static_cast<std::uint16_t>(mark(time) % 5 * 8);
    }

  private:
    MemorySource source_{linux_os(), MemoryMode::numa, 1};
    GroupMemory memory_{source_, GroupId{0}};

  public:
    std::deque<LpRecord> lp;
    PastLog log;
};

std::uint32_t commit(PastLog& log, VirtualTime before, std::vector<VirtualTime>* times = nullptr) {
    return log.commit(
        start_of(before), UINT32_MAX,
        [&](const LogEntry& entry) {
            if (times != nullptr) times->push_back(entry.event.time);
        },
        [](LogEntry&) {});
}

struct Noted {
    VirtualTime time;
    std::uint32_t target;
    std::uint32_t sends;
};

TEST_CASE("PastLog: random appends, commits and takes agree with a list") {
    std::size_t taken_twice_or_more = 0, rings_grown = 0;
    for (const std::uint64_t seed : test_seeds(20)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        LogOfLps of;
        std::vector<Noted> model;
        VirtualTime now = 1;
        const double commits = 0.002 + 0.02 * dice.chance(0.5);
        const std::size_t ring = of.log.ring_bytes();
        for (int step = 0; step < 5000; ++step) {
            if (dice.chance(commits)) {
                const VirtualTime bound = now - static_cast<double>(dice.below(100));
                std::vector<VirtualTime> times, expected;
                commit(of.log, bound, &times);
                for (const Noted& noted : model)
                    if (noted.time < bound) expected.push_back(noted.time);
                REQUIRE(times == expected);
                std::erase_if(model, [&](const Noted& noted) { return noted.time < bound; });
                of.log.trim(dice.chance(0.1));
            } else if (dice.chance(0.01)) {
                const auto target = static_cast<std::uint32_t>(dice.below(lps));
                std::size_t taken = 0;
                auto next = model.begin();
                of.log.take(of.lp[target], [&](LogEntry& entry) {
                    next = std::find_if(next, model.end(),
                                        [&](const Noted& noted) { return noted.target == target; });
                    REQUIRE(next != model.end());
                    of.check(entry, target, next->time, next->sends);
                    ++next;
                    ++taken;
                });
                taken_twice_or_more += taken > 1 ? 1 : 0;
                const auto left = std::erase_if(
                    model, [&](const Noted& noted) { return noted.target == target; });
                REQUIRE(taken == left);
                REQUIRE_FALSE(of.log.contains_events_of(of.lp[target]));
            } else {
                const auto sends =
                    static_cast<std::uint32_t>(dice.chance(0.01) ? dice.below(300) : dice.below(3));
                model.push_back({now++, static_cast<std::uint32_t>(dice.below(lps)), sends});
                of.append(model.back().target, model.back().time, dice.below(payload_bytes_max + 1),
                          sends);
            }
            REQUIRE(of.log.size() == model.size());
            REQUIRE(of.log.empty() == model.empty());
            if (step % 100 == 0) of.log.validate();
        }
        rings_grown += of.log.ring_bytes() > ring ? 1 : 0;
        auto next = model.begin();
        of.log.for_each([&](LogEntry& entry) {
            of.check(entry, next->target, next->time, next->sends);
            ++next;
        });
        REQUIRE(next == model.end());
    }
    CHECK(taken_twice_or_more > 0);
    CHECK(rings_grown > 0);
}

TEST_CASE("PastLog: a log that is committed as fast as it is filled does not grow") {
    LogOfLps of;
    const std::size_t ring = of.log.ring_bytes();
    for (VirtualTime time = 1; time < 20'000; ++time) {
        of.append(static_cast<std::uint32_t>(time) % lps, time, 40, 1);
        if (static_cast<int>(time) % 100 == 0) REQUIRE(commit(of.log, time) > 0);
    }
    REQUIRE(of.log.tail() > 10 * ring);
    CHECK(of.log.ring_bytes() == ring);
    of.log.validate();
}

TEST_CASE("PastLog: a ring that has grown shrinks when it is mostly empty") {
    LogOfLps of;
    const std::size_t ring = of.log.ring_bytes();
    for (VirtualTime time = 1; time < 50'000; ++time) of.append(1, time, 0, 1);
    REQUIRE(of.log.ring_bytes() > 32 * ring);
    commit(of.log, 49'990);
    SECTION("slowly") {
        for (int i = 0; i < 2000; ++i) of.log.trim(false);
    }
    SECTION("at once if memory is low") {
        for (int i = 0; i < 20; ++i) of.log.trim(true);
    }
    CHECK(of.log.ring_bytes() == ring);
    of.log.validate();
    VirtualTime time = 49'990;
    of.log.take(of.lp[1], [&](LogEntry& entry) { of.check(entry, 1, time++, 1); });
    CHECK(time == 50'000);
}

TEST_CASE("PastLog: a log of a given size uses all of this size in turn and does not shrink") {
    constexpr std::size_t capacity = std::size_t{1} << 20;
    LogOfLps of(capacity - 1);
    std::set<const LogEntry*> places;
    for (VirtualTime time = 1; time < 20'000; ++time) {
        of.append(0, time, 0, 1);
        places.insert(&of.log.newest());
        commit(of.log, time);
        of.log.trim(false);
    }
    CHECK(of.log.tail() > 2 * capacity);
    CHECK(of.log.ring_bytes() >= capacity);
    const auto address = [](const LogEntry* entry) {
        return reinterpret_cast<std::uintptr_t>(entry);
    };
    CHECK(address(*places.rbegin()) - address(*places.begin()) > capacity * 9 / 10);
}

TEST_CASE("PastLog: an event before the newest entry does not fit into the log") {
    LogOfLps of;
    CHECK(of.log.may_append(start_of(1)));
    of.append(0, 5, 0, 0);
    CHECK_FALSE(of.log.may_append(start_of(1)));
    CHECK(of.log.may_append(start_of(6)));
    commit(of.log, 6);
    CHECK(of.log.may_append(start_of(1)));
}

TEST_CASE("PastLog: a log that has reached its limit accepts events again after a commit") {
    LogOfLps of;
    VirtualTime time = 1;
    while (of.log.may_append(start_of(time))) of.append(0, time++, 8, 1);
    CHECK(of.log.used_bytes() >= PastLog::used_max);
    CHECK(of.log.ring_bytes() < 3 * PastLog::used_max);
    commit(of.log, time / 2);
    CHECK(of.log.may_append(start_of(time)));
}

TEST_CASE("PastLog: an entry that needs more room while it is being made keeps its content") {
    LogOfLps of;
    LogEntry& entry = of.log.begin();
    entry.event = {};
    entry.event.time = 7;
    std::memset(entry.undo(), 42, undo_bytes);
    const std::size_t ring = of.log.ring_bytes();
    LogEntry& larger = of.log.begin(4 * PastLog::capacity_min / sizeof(EventHeader));
    REQUIRE(of.log.ring_bytes() > ring);
    CHECK(larger.event.time == 7);
    CHECK(larger.undo()[undo_bytes - 1] == std::byte{42});
}

TEST_CASE(
    "PastLog: validate() finds a wrong newest entry of an LP, a wrong order and a wrong size") {
    LogOfLps of;
    of.append(0, 5, 0, 0);
    of.append(1, 6, 0, 0);
    of.log.validate();
    SECTION("newest entry of the LP") { of.lp[1].newest_in_log = 0; }
    SECTION("order") { of.log.newest().event.time = 4; }
    SECTION("size") { of.log.newest().bytes += 8; }
    CHECK_THROWS_AS(of.log.validate(), InternalError);
}

}  // namespace
}  // namespace nw::test
