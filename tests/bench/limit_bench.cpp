// SPDX-License-Identifier: Apache-2.0
// The reference of the benchmarks: the cost of PHOLD without an engine.
//
// One thread executes one loop: it pops the earliest event, draws numbers, and pushes the next
// event. The LPs, draws and times are those of models/phold (with seed 1, 16 B of state and no
// payload), and the pending set is that of the engines. In contrast to an engine, the program calls
// no handler through a pointer, makes no record of an event beside its entry, computes no digest,
// does not order events of equal times, and keeps no data to undo events. The speed of an engine is
// given relative to the speed of this program. Runs of the engine and of this program alternate, so
// that a busy or slow machine does not change the result.
//
//     limit_bench LPS EVENTS-PER-LP REMOTE EVENTS    prints ns of wall time per event

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include <numawarp/random.hpp>

#include "event/pending_set.hpp"

namespace nw::bench {
namespace {

constexpr std::uint64_t seed = 1;
constexpr double lookahead = 0.1;
constexpr double mean = 0.9;

// The LP of a later event is prefetched into the cache: of the event at this distance in the
// pending set.
constexpr std::size_t prefetch_distance = 4;

class Limit {
  public:
    Limit(std::uint32_t lps, std::uint32_t events_per_lp, double remote)
        : remote_(remote), lps_(lps) {
        for (std::uint32_t lp = 0; lp < lps; ++lp) {
            Random random(seed, lp, 0);
            for (std::uint32_t i = 0; i < events_per_lp; ++i) send(random, lp, 0);
            lps_[lp].random_counter = random.counter();
        }
    }

    void run(std::uint64_t events) {
        for (std::uint64_t i = 0; i < events; ++i) {
            const PendingEntry* next = pending_.top();
            const std::uint32_t lp = next->target;
            const VirtualTime now = next->time;
            pending_.pop();
            if (const PendingEntry* soon = pending_.upcoming(prefetch_distance))
                __builtin_prefetch(&lps_[soon->target], 1);
            execute(lp, now);
        }
    }

  private:
    struct Lp {
        std::uint64_t random_counter = 0;
        std::uint64_t state[2] = {};
    };

    void execute(std::uint32_t lp, VirtualTime now) {
        const auto change = std::bit_cast<std::uint64_t>(now);
        lps_[lp].state[0] += change;
        lps_[lp].state[1] += change + 1;

        Random random(seed, lp, lps_[lp].random_counter);
        std::uint32_t target = lp;
        if (random.chance(remote_)) target = static_cast<std::uint32_t>(random.below(lps_.size()));
        send(random, target, now);
        lps_[lp].random_counter = random.counter();
    }

    void send(Random& random, std::uint32_t target, VirtualTime now) {
        pending_.push({now + lookahead + random.exponential(mean), 0, 0, 0, target, 0});
    }

    double remote_;
    std::vector<Lp> lps_;
    PendingSet pending_;
};

int main_of(int argc, char** argv) {
    if (argc != 5) {
        fmt::print(stderr, "usage: limit_bench LPS EVENTS-PER-LP REMOTE EVENTS\n");
        return 2;
    }
    const auto lps = static_cast<std::uint32_t>(std::atoi(argv[1]));
    const auto events_per_lp = static_cast<std::uint32_t>(std::atoi(argv[2]));
    const auto events = static_cast<std::uint64_t>(std::atoll(argv[4]));
    Limit limit(lps, events_per_lp, std::atof(argv[3]));
    // These events are not timed: they fill all buckets and caches.
    limit.run(std::max<std::uint64_t>(3 * std::uint64_t{lps} * events_per_lp, 100'000));
    const auto start = std::chrono::steady_clock::now();
    limit.run(events);
    const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - start;
    fmt::print("{}\n", wall.count() / static_cast<double>(events));
    return 0;
}

}  // namespace
}  // namespace nw::bench

int main(int argc, char** argv) { return nw::bench::main_of(argc, argv); }
