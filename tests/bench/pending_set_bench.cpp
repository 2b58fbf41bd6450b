// SPDX-License-Identifier: Apache-2.0
// The pending set alone, under the hold model (Vaucher and Duval, 1975): pop the smallest entry and
// push it again at a later time, so that the size does not change. Delays are drawn beforehand.
//
//   hold           0.1 + Exp(0.9), as in PHOLD: few pushes are late
//   hold_short     Exp(1): the front is dense, some pushes are late
//   hold_mixed     one in a hundred entries has a thousandth of the others' delay, and soon almost
//                  only these entries are popped
//   hold_ties      whole numbers: thousands of entries at the same time
//   refill         push all, then pop all
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "event/pending_set.hpp"

namespace {

using nw::PendingEntry;
using nw::PendingSet;

class Delays {
  public:
    template <class Draw>
    explicit Delays(Draw draw) {
        std::mt19937_64 random(1);
        std::uniform_real_distribution<double> uniform;
        for (double& delay : table_) delay = draw(1 - uniform(random));
    }
    double operator()(std::uint32_t i) const { return table_[i % size]; }

  private:
    static constexpr std::size_t size = 1 << 14;
    std::vector<double> table_ = std::vector<double>(size);
};

template <class Delay>
void hold(benchmark::State& state, Delay delay) {
    PendingSet set;
    const auto entries = static_cast<std::uint32_t>(state.range(0));
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < entries; ++i) set.push({delay(i, i), 0, 0, ++count, i, 0});
    const auto step = [&] {
        PendingEntry entry = *set.top();
        set.pop();
        entry.sequence = ++count;
        entry.time += delay(count, entry.target);
        set.push(entry);
    };
    for (std::uint32_t i = 0; i < 4 * entries; ++i) step();
    for (auto _ : state) step();
    state.counters["bytes/entry"] = static_cast<double>(set.bytes()) / entries;
}

void hold_phold(benchmark::State& state) {
    const Delays delays([](double u) { return 0.1 - 0.9 * std::log(u); });
    hold(state, [&](std::uint32_t i, std::uint32_t) { return delays(i); });
}
void hold_short(benchmark::State& state) {
    const Delays delays([](double u) { return -std::log(u); });
    hold(state, [&](std::uint32_t i, std::uint32_t) { return delays(i); });
}
void hold_mixed(benchmark::State& state) {
    const Delays delays([](double u) { return 0.1 - 0.9 * std::log(u); });
    hold(state, [&](std::uint32_t i, std::uint32_t target) {
        return target % 100 == 0 ? delays(i) * 1e-3 : delays(i);
    });
}
void hold_ties(benchmark::State& state) {
    const Delays delays([](double u) { return std::ceil(4 * u); });
    hold(state, [&](std::uint32_t i, std::uint32_t) { return delays(i); });
}

void refill(benchmark::State& state) {
    const Delays delays([](double u) { return 0.1 - 0.9 * std::log(u); });
    const auto entries = static_cast<std::uint32_t>(state.range(0));
    PendingSet set;
    double start = 0;
    for (auto _ : state) {
        for (std::uint32_t i = 0; i < entries; ++i)
            set.push({start + delays(i * 7 + 1), 0, 0, i, i, 0});
        for (std::uint32_t i = 0; i < entries; ++i) {
            start = set.top()->time;
            set.pop();
        }
    }
    state.SetItemsProcessed(state.iterations() * entries);
}

BENCHMARK(hold_phold)->Arg(1)->Arg(4)->RangeMultiplier(4)->Range(16, 1 << 22);
BENCHMARK(hold_short)->RangeMultiplier(16)->Range(16, 1 << 20);
BENCHMARK(hold_mixed)->RangeMultiplier(32)->Range(1 << 10, 1 << 20);
BENCHMARK(hold_ties)->RangeMultiplier(32)->Range(1 << 10, 1 << 20);
BENCHMARK(refill)->RangeMultiplier(32)->Range(1 << 10, 1 << 20);

}  // namespace
