// SPDX-License-Identifier: Apache-2.0
// Goal: workers get their share of the cores even if other workers or foreign processes delay them.
// The window is neither too narrow for this share, nor so wide that much work is undone.
//
// Method: workers on two cores of a simulated machine (crowded_machine.hpp). There are four
// variants of PHOLD, and each variant has a different best window. The required shares are somewhat
// below the shares with the best fixed width of `--window`. With a window that is limited to the
// advance of GVT, the shares were between 0.01 and 0.35 in most of these cases.
#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "tests/engine/crowded_machine.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

struct Yardstick {
    std::uint32_t lps;
    std::uint32_t events_per_lp;
    double remote;
    double lookahead;
    std::uint32_t halved_from = UINT32_MAX;  // LPs from this number on have half as many events

    std::uint32_t events() const noexcept { return lps * events_per_lp; }  // in flight
};

class Ball final : public PlainStateProcess<std::uint64_t> {
  public:
    Ball(LpId, const Yardstick* yardstick) : yardstick_(*yardstick) {}

    void on_start(Context& context) override {
        const bool is_halved = index(context.self()) >= yardstick_.halved_from;
        for (std::uint32_t i = 0; i < yardstick_.events_per_lp; i += is_halved ? 2 : 1)
            send(context, context.self());
    }
    void on_event(Context& context, const Event&) override {
        ++state;
        LpId target = context.self();
        if (context.random().chance(yardstick_.remote))
            target = LpId(static_cast<std::uint32_t>(context.random().below(yardstick_.lps)));
        send(context, target);
    }

  private:
    void send(Context& context, LpId target) {
        context.schedule(
            target, yardstick_.lookahead + context.random().exponential(1 - yardstick_.lookahead),
            0);
    }
    const Yardstick& yardstick_;
};

struct Played {
    double share;                    // of the fair share of two cores; see CrowdedMachine::play()
    std::uint64_t uncommitted_peak;  // events
};

// Simulates about `events` committed events. `window`: width of a fixed window; 0: automatic
// window.
Played play(const Yardstick& yardstick, std::uint32_t workers, std::uint32_t foreign,
            VirtualTime window, double events) {
    Setup setup;
    setup.lps = yardstick.lps;
    setup.process = process<Ball>(&yardstick);
    Config config;
    config.workers = workers;
    config.rollback = Rollback::copy;
    config.until = time_infinity;
    config.state_saving_interval = 1;
    if (window > 0) {
        config.window_mode = WindowMode::fixed;
        config.window = window;
    }
    SteppedRun run(setup, config, {.ranks = 1, .workers = workers, .weather = {0, 0, 0}}, 1);
    run.set_up();
    CrowdedMachine machine(run, {.cores = 2, .foreign = foreign});
    const double share = machine.play(events / yardstick.events());
    return {share, machine.uncommitted_peak()};
}

double share(const Yardstick& yardstick, std::uint32_t workers, std::uint32_t foreign,
             VirtualTime window = 0) {
    return play(yardstick, workers, foreign, window, 600'000).share;
}

struct Crowd {
    std::uint32_t workers, foreign;
};

// Prints the table of docs/decisions/0021-window-by-efficiency.md: test_engine_crowded [.table]
TEST_CASE("the table of shares under fixed windows and under the automatic window is printed",
          "[.table]") {
    const Yardstick dense{1024, 16, 0.25, 0.1};
    for (const Crowd& crowd : {Crowd{2, 0}, {4, 0}, {8, 0}, {2, 1}, {2, 2}, {3, 1}, {3, 2}}) {
        fmt::print("{} workers, {} other programs: automatic {:.2f}; fixed", crowd.workers,
                   crowd.foreign, share(dense, crowd.workers, crowd.foreign));
        for (const VirtualTime window : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0})
            fmt::print(", {} {:.2f}", window, share(dense, crowd.workers, crowd.foreign, window));
        fmt::print("\n");
    }
}

TEST_CASE("workers that other threads delay get the required shares") {
    struct Case {
        const char* name;
        Yardstick yardstick;
        // Required shares of 2, 4 and 8 workers alone, of 2 workers beside 1 and 2 foreign
        // processes, and of 3 workers beside 1 and 2 foreign processes.
        double alone2, alone4, alone8, beside1, beside2, three_beside1, three_beside2;
    };
    const Case cases[] = {
        {"dense", {1024, 16, 0.25, 0.1}, 0.9, 0.75, 0.65, 0.8, 0.8, 0.65, 0.4},
        {"sparse", {1024, 1, 0.25, 0.1}, 0.85, 0.75, 0.7, 0.6, 0.3, 0.5, 0.1},
        {"no lookahead", {1024, 1, 1.0, 0.01}, 0.85, 0.75, 0.6, 0.55, 0.4, 0.5, 0.05},
        {"small", {64, 1, 0.25, 0.1}, 0.7, 0.4, 0.25, 0.45, 0.02, 0.3, 0.01},
    };
    for (const Case& c : cases) {
        INFO(c.name);
        CHECK(share(c.yardstick, 2, 0) > c.alone2);
        CHECK(share(c.yardstick, 4, 0) > c.alone4);
        CHECK(share(c.yardstick, 8, 0) > c.alone8);
        CHECK(share(c.yardstick, 2, 1) > c.beside1);
        CHECK(share(c.yardstick, 2, 2) > c.beside2);
        CHECK(share(c.yardstick, 3, 1) > c.three_beside1);
        CHECK(share(c.yardstick, 3, 2) > c.three_beside2);
    }
}

// The worker with half as many events is always ahead by the whole window. The workers send each
// other almost nothing, so that hardly any event is rolled back.
TEST_CASE("the window stays bounded if no event is rolled back") {
    const Yardstick apart{
        .lps = 1024, .events_per_lp = 16, .remote = 0.0001, .lookahead = 0, .halved_from = 512};
    const Played played = play(apart, 2, 0, 0, 8'000'000);
    CHECK(played.uncommitted_peak > 65'536);
    CHECK(played.uncommitted_peak < 1.25 * 2 * 65'536);
}

}  // namespace
}  // namespace nw::test
