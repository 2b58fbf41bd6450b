// SPDX-License-Identifier: Apache-2.0
// Model, options, machine, network delays and schedule of a stepped run, drawn from one seed.
#pragma once

#include <string>

#include <fmt/format.h>

#include "tests/engine/stepped_run.hpp"

namespace nw::test {

struct SteppedCase {
    RandomShape shape;
    Config config;
    SteppedRun::Machine machine;

    std::string describe() const {
        return fmt::format(
            "{} ranks of {} workers, delay up to {}, stalls {} of up to {}, laziness {}; seed {}, "
            "LPs per group {}, rollback {}, states saved every {}, GVT every {} ms or {} events, "
            "window mode {} and width {}, check rollback {}, rebinding share {} every {} s by "
            "policy {}, "
            "memory used {}, check interrupt {}, safe events kept {}, delays {}",
            machine.ranks, machine.workers, machine.weather.delay_max,
            machine.weather.stall_probability, machine.weather.stall_max, machine.laziness,
            config.seed, config.lps_per_group,
            config.rollback ? static_cast<int>(*config.rollback) : -1, config.state_saving_interval,
            config.gvt_interval_ms, config.gvt_interval_events,
            static_cast<int>(config.window_mode), config.window, config.check_rollback,
            config.check_rebind, config.rebind_seconds, static_cast<int>(config.rebind_policy),
            machine.memory_used, config.check_interrupt, config.keep_safe_events, machine.delays);
    }
};

inline SteppedCase draw_stepped_case(Dice& dice) {
    SteppedCase drawn;
    drawn.shape = draw_shape(dice, 150 + static_cast<std::uint32_t>(dice.below(700)));
    SteppedRun::Machine& machine = drawn.machine;
    machine.ranks = static_cast<std::uint32_t>(1 + dice.below(4));
    machine.workers = static_cast<std::uint32_t>(1 + dice.below(3));
    const std::uint32_t delays[] = {0, 5, 40, 300};
    machine.weather.delay_max = delays[dice.below(4)];
    machine.weather.stall_probability = dice.chance(0.5) ? 0.01 : 0;
    machine.weather.stall_max = static_cast<std::uint32_t>(1 + dice.below(500));
    machine.laziness = dice.chance(0.5) ? 0.3 : 0;

    Config& config = drawn.config;
    config.seed = dice.below(1'000'000);
    const std::uint32_t group_sizes[] = {0, 1, 3, 16};
    config.lps_per_group = group_sizes[dice.below(4)];
    config.memory = dice.chance(0.7) ? MemoryMode::numa : MemoryMode::libc;
    if (drawn.shape.has_plain_state()) {
        const Rollback methods[] = {Rollback::snapshot, Rollback::copy, Rollback::reverse};
        config.rollback = methods[dice.below(3)];
    }
    const std::uint32_t intervals[] = {1, 2, 7};
    config.state_saving_interval = intervals[dice.below(3)];
    config.gvt_interval_ms = dice.chance(0.5) ? 0 : 1e9;
    const std::uint32_t gvt_events[] = {0, 1, 20, 300};
    config.gvt_interval_events = gvt_events[dice.below(4)];
    const WindowMode windows[] = {WindowMode::automatic, WindowMode::off, WindowMode::fixed};
    config.window_mode = windows[dice.below(3)];
    if (config.window_mode == WindowMode::fixed) config.window = dice.chance(0.5) ? 0.5 : 3;
    if (dice.chance(0.2)) config.check_rollback = dice.chance(0.5) ? 0.05 : 0.5;
    config.rebind_seconds = dice.chance(0.4) ? 0 : dice.chance(0.5) ? 0.0005 : 0.01;
    config.check_rebind = dice.chance(0.5) ? 0.2 : 0.9;
    if (dice.chance(0.2)) {
        config.check_rebind = 0;
        config.rebind_policy = dice.chance(0.5) ? RebindPolicy::knapsack : RebindPolicy::root_sim;
    }
    machine.memory_used = dice.chance(0.3) ? 1 : 0;
    config.keep_safe_events = dice.chance(0.3);
    if (dice.chance(0.3)) config.check_interrupt = dice.chance(0.5) ? 0.02 : 0.3;
    const double shares[] = {0, 0.003, 0.03, 0.3};
    machine.delays = shares[dice.below(4)];
    return drawn;
}

// A case in which groups often change workers, safe events keep no history, and turns are
// interrupted at handoffs. Half of the models have no lookahead and many zero delays.
inline SteppedCase draw_moving_case(Dice& dice) {
    SteppedCase drawn = draw_stepped_case(dice);
    if (dice.chance(0.5)) {
        drawn.shape.lookahead = 0;
        drawn.shape.zero_delay = dice.chance(0.5) ? 0.2 : 0.7;
    } else {
        drawn.shape.lookahead = dice.chance(0.5) ? 0.3 : 2;
    }
    drawn.shape.lps = std::max(drawn.shape.lps, 12u);
    drawn.shape.fuel = std::max(4u, drawn.shape.fuel / 3);
    drawn.machine.ranks = static_cast<std::uint32_t>(1 + dice.below(2));
    drawn.machine.workers = static_cast<std::uint32_t>(2 + dice.below(3));
    drawn.machine.memory_used = 0;
    const double shares[] = {0.01, 0.1, 0.4};
    drawn.machine.delays = shares[dice.below(3)];
    Config& config = drawn.config;
    config.lps_per_group = static_cast<std::uint32_t>(1 + dice.below(2));
    config.check_rollback = 0;
    config.keep_safe_events = false;
    config.rebind_seconds = dice.chance(0.5) ? 0.002 : 0.01;
    config.check_rebind = dice.chance(0.5) ? 0.2 : 0.9;
    return drawn;
}

}  // namespace nw::test
