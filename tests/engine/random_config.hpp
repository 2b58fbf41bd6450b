// SPDX-License-Identifier: Apache-2.0
// Options for a random model, drawn from the same seed: the engine, the number of workers, and all
// options that affect when events are executed, undone and moved.
#pragma once

#include <string>

#include <fmt/format.h>

#include "numa/place/placement_policy.hpp"
#include "plan/config.hpp"
#include "tests/engine/random_shape.hpp"

namespace nw::test {

inline Config draw_config(Dice& dice, const RandomShape& shape) {
    Config config;
    const bool is_free = shape.lookahead > 0 && shape.can_end_after == 0;  // suits all engines
    const bool conservative = is_free && dice.chance(0.35);
    const bool alternating = is_free && !conservative && dice.chance(0.4);
    config.engine = conservative  ? EngineKind::conservative
                    : alternating ? EngineKind::automatic
                                  : EngineKind::timewarp;
    config.trial = {.seconds = dice.chance(0.5) ? 0 : 0.003, .alternates = true};
    config.workers = static_cast<std::uint32_t>(1 + dice.below(4));
    config.seed = dice.below(1'000'000);
    const std::uint32_t group_sizes[] = {0, 1, 2, 5, 64};
    config.lps_per_group = group_sizes[dice.below(5)];
    config.memory = dice.chance(0.7) ? MemoryMode::numa : MemoryMode::libc;
    config.pin = dice.chance(0.5);
    if (shape.has_plain_state()) {
        const Rollback methods[] = {Rollback::snapshot, Rollback::copy, Rollback::reverse};
        config.rollback = methods[dice.below(3)];
    }
    const std::uint32_t intervals[] = {0, 1, 2, 7};
    config.state_saving_interval = intervals[dice.below(4)];
    const double gvt_intervals[] = {0.05, 0.2, 1, 5};
    config.gvt_interval_ms = gvt_intervals[dice.below(4)];
    const std::uint32_t gvt_events[] = {0, 1, 100, default_gvt_interval_events};
    config.gvt_interval_events = gvt_events[dice.below(4)];
    const WindowMode windows[] = {WindowMode::automatic, WindowMode::off, WindowMode::fixed};
    config.window_mode = windows[dice.below(3)];
    if (config.window_mode == WindowMode::fixed) config.window = dice.chance(0.5) ? 0.5 : 3;
    if (!conservative && dice.chance(0.3)) config.check_rollback = dice.chance(0.5) ? 0.05 : 0.5;
    const double looks[] = {0, 0.0002, 0.002, 0.02};
    config.rebind_seconds = looks[dice.below(4)];
    const double shares[] = {0, 0.1, 0.8};
    config.check_rebind = shares[dice.below(3)];
    const RebindPolicy policies[] = {RebindPolicy::least_moves, RebindPolicy::knapsack,
                                     RebindPolicy::root_sim};
    config.rebind_policy = policies[dice.below(3)];
    config.libc_built_by_owners = dice.chance(0.5);
    if (config.memory == MemoryMode::numa && dice.chance(0.2)) config.place = &strict_placement;
    config.keep_safe_events = dice.chance(0.3);
    if (!conservative && dice.chance(0.3)) config.check_interrupt = dice.chance(0.5) ? 0.02 : 0.3;
    const VirtualTime measured[] = {0, 0.5, 2.75, 30};
    if (shape.state == StateKind::containers) config.measure_interval = measured[dice.below(4)];
    if (config.measure_interval > 0 && dice.chance(0.3)) config.warm_up = 1.5;
    return config;
}

inline std::string describe(const Config& config) {
    return fmt::format(
        "engine {} (trial of {} s), workers {}, seed {}, LPs per group {}, rollback {}, states "
        "saved every {}, GVT every {} ms or {} events, window mode {} and width {}, memory {}, pin "
        "{}, check rollback {}, rebinding share {} every {} s by policy {}, owners build with libc "
        "{}, place {}, check interrupt {}, net thread {}, safe events kept {}, measures every {} "
        "from {}",
        static_cast<int>(config.engine), config.trial.seconds, config.workers, config.seed,
        config.lps_per_group, config.rollback ? static_cast<int>(*config.rollback) : -1,
        config.state_saving_interval, config.gvt_interval_ms, config.gvt_interval_events,
        static_cast<int>(config.window_mode), config.window, static_cast<int>(config.memory),
        config.pin, config.check_rollback, config.check_rebind, config.rebind_seconds,
        static_cast<int>(config.rebind_policy), config.libc_built_by_owners, config.place->word,
        config.check_interrupt, config.net_thread, config.keep_safe_events, config.measure_interval,
        config.warm_up);
}

}  // namespace nw::test
