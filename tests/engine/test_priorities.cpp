// SPDX-License-Identifier: Apache-2.0
// Goal: if an LP gets several events at one time, the events with a smaller priority are executed
// first, on every engine and from every sender. An effect is executed after its cause, even if the
// effect has the smaller priority. A priority out of range is refused.
//
// Method: senders send work to a clerk at integer times; the higher a sender's number, the smaller
// the priority. The clerk throws if an event comes out of order. At some events, the clerk sends
// itself further work without delay.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/engine/engines.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

struct Work {
    std::uint16_t turn;
    bool is_effect = false;
    bool is_late = false;
    static constexpr EventType type = 1;
};
struct Hour {
    static constexpr EventType type = 2;
};

constexpr std::uint32_t senders = 6;

class Clerk final : public Handles<Clerk, Work> {
  public:
    explicit Clerk(LpId) {}
    void on(Context& context, const Work& work) {
        if (context.now() == time_ && work.turn < last_ && !work.is_late)
            throw std::runtime_error("out of turn");
        last_ = context.now() == time_ ? std::max(last_, work.turn) : work.turn;
        time_ = context.now();
        // Work of turn 0 causes work with priority 3. Work of the last turn causes work with
        // priority 0. This work is late: work with larger priorities was executed before it.
        if (work.is_effect) return;
        if (work.turn == 0) send(context, context.self(), 0, Work{3, true}, Priority{3});
        if (work.turn == senders - 1)
            send(context, context.self(), 0, Work{0, true, true}, Priority{0});
    }

  private:
    VirtualTime time_ = 0;
    std::uint16_t last_ = 0;
};

// The higher a sender's number, the earlier its turn: the work of the first sender comes last.
class Sender final : public Handles<Sender, Hour, Work> {
  public:
    Sender(LpId id, std::uint16_t last)
        : turn_(static_cast<std::uint16_t>(senders - index(id))),
          priority_{turn_ == senders - 1 ? last : turn_} {}
    void on_start(Context& context) override { send(context, context.self(), 0.5, Hour{}); }
    void on(Context& context, const Hour&) {
        send(context, LpId{0}, 0.5, Work{turn_}, priority_);
        send(context, context.self(), 1, Hour{});
    }
    void on(Context&, const Work&) {}

  private:
    std::uint16_t turn_;
    Priority priority_;
};

class Office final : public Model {
  public:
    explicit Office(std::uint16_t last) : Model("office", "work comes in turns"), last_(last) {}
    Setup setup() override {
        return {.lps = kinds(
                    {{"clerk", 1, process<Clerk>()}, {"sender", senders, process<Sender>(last_)}}),
                .until = 200};
    }

  private:
    std::uint16_t last_;
};

TEST_CASE("events of equal time are executed in the order of their priorities") {
    std::string expected;
    for (const EngineKind engine : {EngineKind::sequential, EngineKind::timewarp}) {
        INFO(name_of(engine));
        Office model(priority_max);
        const RunResult result = run_model(model, wild_config(engine));
        CHECK(result.totals[Counter::committed_events] > 200 * 2 * senders);
        if (expected.empty()) expected = result.digest.hex();
        CHECK(result.digest.hex() == expected);
    }
}

TEST_CASE("a priority out of range is refused") {
    for (const EngineKind engine : {EngineKind::sequential, EngineKind::timewarp}) {
        Office model(priority_max + 1);
        CHECK(model_error_of(model, wild_config(engine))
                  .find("of priority 16384; allowed: 0 to 16383") != std::string::npos);
    }
}

}  // namespace
}  // namespace nw::test
