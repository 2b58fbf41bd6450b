// SPDX-License-Identifier: Apache-2.0
// Measures the cost of large states: blocks above 8 KiB, and states of which an event changes only
// a small part. The rows compare many blocks with fewer blocks, and Time Warp with the sequential
// engine. Both values of a ratio are from the same run of this program. The rows are measured in
// turn, round after round, and medians are compared.
//
//     states_bench [ROUNDS]
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/simulation/simulation.hpp"
#include "tests/bench/large_states.hpp"

namespace nw::bench {
namespace {

RunResult run(Model& model, EngineKind engine, std::uint32_t workers) {
    Config config;
    config.engine = engine;
    config.workers = workers;
    const Setup setup = model.setup();
    LiveProgress progress;
    const std::atomic<int> no_signal{0};
    return simulate(model, setup, config, progress, no_signal);
}

constexpr std::size_t blocks_max = 200'000;

// Returns seconds of wall time. Before the measurement there is a run with the largest amount of
// memory, because a virtual machine may have to get the memory from its host first.
double run_hoard(std::size_t blocks) {
    Hoard warm_up(blocks_max, 9000);
    run(warm_up, EngineKind::sequential, 1);
    Hoard model(blocks, 9000);
    return run(model, EngineKind::sequential, 1).wall_seconds;
}

// Returns ns of wall time per committed event.
double run_tables(EngineKind engine, std::uint32_t workers, std::uint32_t lps, const Table& shape) {
    constexpr double events = 1'000'000;
    Tables model(lps, events / lps, shape);
    const RunResult result = run(model, engine, workers);
    return 1e9 * result.wall_seconds /
           static_cast<double>(result.totals[Counter::committed_events]);
}

struct Row {
    std::string name;
    std::function<double()> over, under;
    double at_most;
    std::vector<double> overs, unders;
};

double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
}

void measure(std::vector<Row> rows, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        for (Row& row : rows) {
            row.overs.push_back(row.over());
            row.unders.push_back(row.under());
        }
    }
    for (const Row& row : rows) {
        const double ratio = median(row.overs) / median(row.unders);
        fmt::print("{:52} {:10.4g} / {:10.4g} = {:6.2f}  wanted at most {:.1f}  {}\n", row.name,
                   median(row.overs), median(row.unders), ratio, row.at_most,
                   ratio <= row.at_most ? "reached" : "MISSED");
    }
}

std::vector<Row> rows() {
    std::vector<Row> rows;
    rows.push_back({"9,000 B blocks, 200 k / 50 k, sequential, s",
                    [] { return run_hoard(blocks_max); },
                    [] { return run_hoard(50'000); },
                    4.5,
                    {},
                    {}});
    const Table dense;
    const Table sparse{.used_bytes = 4096};
    const Table local{.used_bytes = 65'536};
    const auto add = [&](const char* name, std::uint32_t workers, std::uint32_t lps,
                         const Table& shape) {
        rows.push_back(
            {fmt::format("1 MiB x {}, {}, {} worker(s) / sequential, ns", lps, name, workers),
             [=] { return run_tables(EngineKind::timewarp, workers, lps, shape); },
             [=] { return run_tables(EngineKind::sequential, 1, lps, shape); },
             3.0,
             {},
             {}});
    };
    for (const std::uint32_t workers : {1U, 2U}) {
        add("4 KiB touched", workers, 16, dense);
        add("4 KiB touched", workers, 256, dense);
        add("4 KiB of 64 touched", workers, 64, local);
        add("4 KiB ever touched", workers, 64, sparse);
    }
    return rows;
}

}  // namespace
}  // namespace nw::bench

int main(int argc, char** argv) {
    nw::bench::measure(nw::bench::rows(), argc > 1 ? std::atoi(argv[1]) : 5);
    return 0;
}
