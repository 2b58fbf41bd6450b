// SPDX-License-Identifier: Apache-2.0
// Tests the rules of schedule(), which all engines check with the same messages, and the counters
// that must not wrap.
#include "api/event_sink.hpp"
#include "api/make_context.hpp"

#include <limits>
#include <string>

#include <numawarp/model.hpp>

#include "api/event_key.hpp"
#include "api/lp_kinds.hpp"
#include "tests/support/catch.hpp"

namespace nw {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string breach(std::uint32_t target, VirtualTime delay, std::size_t payload_bytes,
                   VirtualTime lookahead = 0.5, VirtualTime now = 2) {
    const LpKinds kinds(Kinds(4));
    const ScheduleRules rules{
        .lps = 4, .payload_bytes_max = 8, .lookahead = lookahead, .kinds = &kinds};
    try {
        detail::check_schedule(rules, LpId{1}, now, LpId{target}, {delay, now + delay},
                               payload_bytes);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("check_schedule: valid events are accepted") {
    CHECK(breach(0, 0.5, 0) == "");
    CHECK(breach(3, 1e300, 8) == "");
    CHECK(breach(1, 0, 8) == "");     // to itself: no lookahead
    CHECK(breach(0, 0, 0, 0) == "");  // zero delay, if no lookahead is declared
    CHECK(breach(0, -0.0, 0, 0) == "");
}

TEST_CASE("check_schedule: each broken rule has its own message") {
    CHECK(breach(4, 1, 0) ==
          "LP 1 at time 2 schedules an event for LP 4 at time 3: there is no such LP; allowed: 0 "
          "to 3");
    CHECK(
        breach(0, 1, 9) ==
        "LP 1 at time 2 schedules an event for LP 0 at time 3: its payload of 9 bytes is above the "
        "declared bound of 8; allowed: setup.payload_bytes_max = 9 in setup()");
    CHECK(breach(0, -1, 0) ==
          "LP 1 at time 2 schedules an event for LP 0 at time 1: this time is in the past (delay "
          "-1); allowed: a delay of at least 0");
    CHECK(breach(0, nan, 0).find("delay nan") != std::string::npos);
    CHECK(breach(0, time_infinity, 0).find("the time must be finite") != std::string::npos);
    CHECK(breach(0, 1e308, 0, 0, 1.7e308).find("the time must be finite") != std::string::npos);
    CHECK(
        breach(0, 0.25, 0) ==
        "LP 1 at time 2 schedules an event for LP 0 at time 2.25: delay 0.25 is below the declared "
        "lookahead of 0.5");
}

TEST_CASE("Context: an event scheduled at a time has exactly that time") {
    // The subtraction and the addition each have a result halfway between two numbers. This result
    // is rounded to the even number.
    constexpr double now = 0x1p-53, time = 1 + 0x1p-52;
    static_assert(now + (time - now) != time);
    class Times final : public detail::EventSink {
      public:
        explicit Times(const ScheduleRules& rules) : EventSink(rules, 1) {}
        using EventSink::make_context;
        void send(const detail::ScheduledEvent& event) override { last = event.when; }
        void output(Context&, std::size_t, std::span<const OutputValue>) override {}
        detail::ScheduledTime last{};
    };
    const LpKinds kinds(Kinds(1));
    const ScheduleRules rules{.lps = 1, .kinds = &kinds};
    Times times(rules);
    Context context = times.make_context(now, 0, 0);
    context.schedule_bytes_at(LpId{0}, time, 0, {});
    CHECK(times.last.time == time);
    CHECK(times.last.delay == time - now);
    context.schedule(LpId{0}, 1, 0);
    CHECK(times.last.delay == 1);
    CHECK(times.last.time == now + 1);
}

TEST_CASE("generation_after: counts zero delays and refuses to wrap after 2^32 zero delays") {
    CHECK(detail::generation_after(7, 1, 2, 0) == 0);
    CHECK(detail::generation_after(7, 2, 2, 0) == 8);
    CHECK(detail::generation_after(UINT32_MAX - 1, 2, 2, 0) == UINT32_MAX);
    CHECK(detail::generation_after(UINT32_MAX, 1, 2, 0) == 0);
    CHECK_THROWS_AS(detail::generation_after(UINT32_MAX, 2, 2, 0), ModelError);
}

TEST_CASE(
    "generation_after: begins with the priority and is never below the generation of the cause") {
    const std::uint32_t late = nw::first_generation_of(Priority{2});
    CHECK(detail::generation_after(7, 1, 2, late) == late);
    CHECK(detail::generation_after(7, 2, 2, late) == late);
    CHECK(detail::generation_after(late + 3, 2, 2, nw::first_generation_of(Priority{1})) ==
          late + 4);
}

TEST_CASE("blocks_drawn: a number that a history entry cannot store and a decrease are refused") {
    CHECK(detail::blocks_drawn(5, 5) == 0);
    CHECK(detail::blocks_drawn(5, 5 + std::uint64_t{UINT32_MAX}) == UINT32_MAX);
    CHECK_THROWS_AS(detail::blocks_drawn(5, 6 + std::uint64_t{UINT32_MAX}), ModelError);
    CHECK_THROWS_AS(detail::blocks_drawn(5, 4), ModelError);
}

// Records everything that a Context passes to its sink.
class Recorder final : public detail::EventSink {
  public:
    Recorder() : EventSink({.lps = 9, .payload_bytes_max = 8, .kinds = &some()}, 1) {}
    using EventSink::make_context;
    void send(const detail::ScheduledEvent& event) override {
        said += std::to_string(index(event.target)) + " " +
                std::to_string(static_cast<int>(event.when.delay)) + " " +
                std::to_string(event.type) + " " + std::to_string(event.payload.size());
        if (event.first_generation != 0)
            said += " at " + std::to_string(event.first_generation >> nw::chain_bits);
        said += "; ";
    }
    void output(Context&, std::size_t table, std::span<const OutputValue> row) override {
        said += "table " + std::to_string(table) + ": " + std::to_string(row.size()) + "; ";
    }
    std::string said;

  private:
    static const LpKinds& some() {
        static const LpKinds kinds(Kinds(9));
        return kinds;
    }
};

TEST_CASE("Context: forwards events and output and returns the data of its event") {
    Recorder recorder;
    Context context = recorder.make_context(3.5, 2, 77);
    CHECK(context.now() == 3.5);
    CHECK(context.self() == LpId{2});
    CHECK(context.lps() == 9);
    CHECK(context.random().counter() == 77);
    CHECK(context.control() == 0);
    context.schedule(LpId{5}, 1, 6);
    context.schedule(LpId{5}, 2, 7, std::uint32_t{4});
    context.schedule(LpId{5}, 3, 6, Priority{2});
    context.schedule(LpId{5}, 4, 7, std::uint32_t{4}, Priority{priority_max});
    CHECK_THROWS_AS(context.schedule(LpId{5}, 3, 6, Priority{priority_max + 1}), ModelError);
    context.schedule(LpId{5}, 5, 6);
    context.output(1, 2, "three", 4.0);
    CHECK(recorder.said ==
          "5 1 6 0; 5 2 7 4; 5 3 6 0 at 2; 5 4 7 4 at 16383; 5 5 6 0; table 1: 3; ");
}

TEST_CASE("LogicalProcess: without on_reverse an event cannot be reversed") {
    struct Plain : LogicalProcess {
        void on_event(Context&, const Event&) override {}
    } plain;
    Recorder recorder;
    Context context = recorder.make_context(0, 0, 0);
    CHECK_THROWS_AS(plain.on_reverse(context, Event(0, LpId{0}, 0, {})), ModelError);
}

}  // namespace
}  // namespace nw
