// SPDX-License-Identifier: Apache-2.0
// Processes. Goal: every feature of processes gives the same result on every engine, and with
// rollbacks. Method: the digests are compared.
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <numawarp/process.hpp>

#include "tests/engine/engines.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

struct Letter {
    int number;
};

// Uses all features of processes at once. The LPs send each other messages without end.
class Town final : public ProcessLp {
  public:
    explicit Town(LpId) {}
    void start() override {
        for (int i = 0; i < 4; ++i) env.start(citizen());
        env.start(mail());
        env.start(trouble());
    }

  private:
    Process citizen() {
        std::vector<double> memory;
        for (;;) {
            auto turn = env.random().chance(0.3) ? desk_.preempt(0) : desk_.request(1);
            const auto cut = co_await interruptible(turn | env.delay(env.random().exponential(1)));
            if (turn && !cut) co_await interruptible(env.delay(env.random().exponential(0.5)));
            memory.push_back(env.now());
            if (memory.size() > 20) memory = {};
            co_await interruptible(tank_.put(1) & env.delay(env.random().uniform(0, 1)));
            env.send(static_cast<LpId>(env.random().below(env.lps())),
                     0.05 + env.random().exponential(0.3), Letter{static_cast<int>(memory.size())});
        }
    }
    Process mail() {
        for (;;) {
            const Letter letter = co_await env.receive<Letter>();
            co_await (tank_.get(letter.number % 3) | env.delay(0.1));
            Outcome<int> age{env};
            // g++ 12 stores the stack address of this braced list in the coroutine frame.
            const std::vector<Process> children{env.start(aging(age, letter.number)),
                                                env.start(short_life(letter.number % 3))};
            co_await any_of(children);
            co_await all_of(children);
            ages_ += co_await age;
            victims_.push_back(env.start(short_life(letter.number)));
        }
    }
    Process aging(Outcome<int>& age, int years) {
        co_await env.delay(0.01 * years);
        age.give(years);
    }
    Process short_life(int years) {
        const std::string diary(static_cast<std::size_t>(years), 'x');
        try {
            co_await env.delay(0.1 * years);
            if (diary.size() % 5 == 0) throw std::runtime_error(diary);
        } catch (...) {
            // No `const std::exception&` here: the address of the exception would be stored in the
            // frame. With a sanitizer, this address is not in the LP's memory.
        }
    }
    Process trouble() {
        for (;;) {
            co_await env.delay(env.random().exponential(0.7));
            for (const Process& victim : victims_)
                if (victim.is_alive()) victim.interrupt(std::string("trouble"));
            victims_.clear();
        }
    }

    Resource desk_{env};
    Container tank_{env, 10, 5};
    int ages_ = 0;
    std::vector<Process> victims_;
};

class Towns final : public Model {
  public:
    Towns() : Model("towns", "all features of processes") {}
    Setup setup() override {
        Setup setup;
        setup.lps = 16;
        setup.until = 40;
        setup.lookahead = 0.05;
        setup.payload_bytes_max = sizeof(Letter);
        setup.process = process<Town>();
        return setup;
    }
};

TEST_CASE("processes have the same digest on every engine and with forced rollbacks") {
    Towns towns;
    const RunResult reference = run_model(towns, wild_config(EngineKind::sequential));
    REQUIRE(reference.totals[Counter::committed_events] > 1000);
    for (const EngineKind engine : {EngineKind::conservative, EngineKind::timewarp}) {
        for (const bool forced : {false, true}) {
            if (forced && engine != EngineKind::timewarp) continue;
            Config config = wild_config(engine);
            config.keep_safe_events = engine == EngineKind::timewarp;
            if (forced) {
                config.check_rollback = 0.1;
                config.rebind_seconds = 0.001;
                config.check_rebind = 0.5;
            }
            const RunResult result = run_model(towns, config);
            INFO(name_of(engine) << (forced ? ", forced" : ""));
            CHECK(result.digest.hex() == reference.digest.hex());
            if (engine == EngineKind::timewarp)
                CHECK(result.totals[Counter::rolled_back_events] > 0);
        }
    }
}

}  // namespace
}  // namespace nw::test
