// SPDX-License-Identifier: Apache-2.0
// The shape of a random model, drawn from one seed: the number of LPs, the number and the targets
// of their events, and the kinds of events and states. Each shape allows only some of these kinds,
// so that unusual mixtures occur, for example many zero delays, or many events for one LP.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "tests/support/random_cases.hpp"

namespace nw::test {

// `growing`: a vector, which is small at first. The plain states have 48, 176 and 496 bytes.
enum class StateKind : std::uint8_t { containers, small_plain, large_plain, growing, middle_plain };

struct RandomShape {
    StateKind state = StateKind::containers;
    std::uint32_t lps = 1;
    std::uint32_t fuel = 100;  // events that descend from each LP's start
    VirtualTime until = time_infinity;
    VirtualTime lookahead = 0;  // added to the delay of each event for another LP
    VirtualTime grain = 0.25;   // delays on the lattice are small multiples of it
    std::uint32_t payload_bytes_max = 64;
    std::uint32_t can_end_after = 0;  // events; 0: the model has no end condition
    double lattice = 1;               // share of delays from the lattice; the rest is continuous
    double zero_delay = 0.1;          // share of delays that are 0 (before the lookahead)
    double to_self = 0.3;
    double to_neighbor = 0.4;     // the rest goes to any LP, or to LP 0
    double hot_spot = 0;          // share of far events that go to LP 0
    double burst = 0.1;           // share of events that send up to six events, not one or two
    double rows = 0.1;            // share of events that write output
    double large_blocks = 0.02;   // share of events that grow a large block (containers)
    std::uint32_t slow_lps = 0;   // one of every slow_lps LPs is slow; 0: none
    bool heap_by_malloc = false;  // malloc, realloc and free beside new (containers)
    bool links = false;           // the model declares links, and the engine partitions by them
    std::uint32_t parts = 0;      // parts that the model itself assigns LPs to; 0: none
    bool commits = true;          // the model has on_commit()
    bool priorities = false;      // events have priorities

    bool has_plain_state() const noexcept {
        return state != StateKind::containers && state != StateKind::growing;
    }

    std::string describe() const {
        return fmt::format(
            "state {}, {} LPs, fuel {}, until {}, lookahead {}, grain {}, payload {}, can_end {}, "
            "lattice {:.2f}, zero delay {:.2f}, self {:.2f}, neighbor {:.2f}, hot spot {:.2f}, "
            "burst {:.2f}, rows {:.2f}, large {:.2f}, slow {}, malloc {}, links {}, parts {}, "
            "commits {}, priorities {}",
            static_cast<int>(state), lps, fuel, until, lookahead, grain, payload_bytes_max,
            can_end_after, lattice, zero_delay, to_self, to_neighbor, hot_spot, burst, rows,
            large_blocks, slow_lps, heap_by_malloc, links, parts, commits, priorities);
    }
};

// Sanitizers replace malloc. In their builds, only new and delete use the LP's heap.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool malloc_is_the_lps = false;
#else
inline constexpr bool malloc_is_the_lps = true;
#endif

// Draws a shape with about `events` events in total.
inline RandomShape draw_shape(Dice& dice, std::uint32_t events) {
    RandomShape shape;
    const std::size_t kind = dice.below(4);
    shape.state = kind < 2 ? StateKind::containers
                           : (kind == 2 ? StateKind::small_plain : StateKind::large_plain);
    shape.lps = static_cast<std::uint32_t>(1 + dice.below(dice.chance(0.2) ? 4 : 48));
    shape.fuel = 1 + events / shape.lps;
    const auto share = [&](double often, double most) {
        return dice.chance(often) ? most * (static_cast<double>(dice.below(101)) / 100) : 0;
    };
    if (dice.chance(0.5)) shape.until = 5 + static_cast<double>(dice.below(60));
    const VirtualTime lookaheads[] = {0.25, 0.3, 2};
    if (dice.chance(0.5)) shape.lookahead = lookaheads[dice.below(3)];
    shape.grain = dice.chance(0.7) ? 0.25 : 0.1;
    const std::uint32_t bounds[] = {16, 24, 64, 200, 3000};
    shape.payload_bytes_max = bounds[dice.below(5)];
    if (dice.chance(0.25)) shape.can_end_after = 1 + static_cast<std::uint32_t>(dice.below(40));
    shape.lattice = dice.chance(0.5) ? 1 : share(0.8, 1);
    shape.zero_delay = share(0.7, 0.5);
    shape.to_self = share(0.8, 0.6);
    shape.to_neighbor = share(0.8, 1);
    shape.hot_spot = share(0.3, 0.7);
    shape.burst = share(0.7, 0.4);
    shape.rows = share(0.8, 0.5);
    shape.large_blocks = share(0.5, 0.05);
    shape.slow_lps = static_cast<std::uint32_t>(dice.chance(0.4) ? 1 + dice.below(5) : 0);
    shape.heap_by_malloc = malloc_is_the_lps && dice.chance(0.5);
    shape.links = dice.chance(0.3);
    shape.parts = static_cast<std::uint32_t>(dice.chance(0.2) ? 1 + dice.below(9) : 0);
    shape.commits = dice.chance(0.3);
    // The following values are not drawn but derived from `fuel`. So all other values of older
    // seeds stay the same.
    shape.priorities = shape.fuel % 3 == 1;
    if (shape.state == StateKind::containers && shape.fuel % 3 == 2)
        shape.state = StateKind::growing;
    if (shape.state == StateKind::large_plain && shape.fuel % 2 == 1)
        shape.state = StateKind::middle_plain;
    return shape;
}

}  // namespace nw::test
