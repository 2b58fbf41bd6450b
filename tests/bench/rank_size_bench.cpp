// SPDX-License-Identifier: Apache-2.0
// Measures the memory of one rank in a run with very many ranks. The program makes the plan, the
// tables, the groups, and the LPs with their first events of this rank, but not the other ranks. No
// event is executed. So the figures do not include the memory that a worker later allocates for
// each rank to which it sends: a buffer of a page and 56 bytes.
//
//     rank_size_bench [LPS [RANKS [WORKERS-IN-EACH]]]
//
// Prints one JSON object: the resident memory of this process before anything of the run exists,
// and the growth with each step. The model is PHOLD, the engine Time Warp.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/timewarp/rank/rank.hpp"
#include "engine/timewarp/worker/executor.hpp"
#include "engine/timewarp/worker/worker.hpp"
#include "lp/group.hpp"
#include "memory/region/memory_source.hpp"
#include "models/phold/phold.hpp"
#include "net/transport.hpp"
#include "numa/os/os.hpp"
#include "plan/run_plan.hpp"
#include "results/output/output_writer.hpp"
#include "results/statistics/live_progress.hpp"
#include "tests/support/set_options.hpp"

namespace nw::bench {
namespace {

// A transport without other ranks: no event arrives, and no reduction ends.
class NobodyElse final : public Transport {
  public:
    NobodyElse(RankId rank, std::uint32_t ranks) : rank_(rank), ranks_(ranks) {}

    RankId rank() const noexcept override { return rank_; }
    std::uint32_t ranks() const noexcept override { return ranks_; }
    void send(RankId, std::span<const std::byte>) override {}
    void receive(std::size_t, const Receive&) override {}
    void begin_reduce_bytes(std::span<const std::byte>, Combine) override {}
    bool poll_reduce_bytes(std::span<std::byte>) override { return false; }

  private:
    RankId rank_;
    std::uint32_t ranks_;
};

// Growth of resident memory since the previous call.
class Growth {
  public:
    std::int64_t operator()() {
        const std::int64_t before = resident_;
        resident_ = now();
        return resident_ - before;
    }

  private:
    static std::int64_t now() { return static_cast<std::int64_t>(linux_os().memory().resident); }

    std::int64_t resident_ = now();
};

void measure(std::uint32_t lps, std::uint32_t ranks, std::uint32_t workers) {
    phold::Model model;
    test::set_options(model, {{"lps", std::to_string(lps)}});
    const Setup setup = model.setup();
    Config config;
    config.workers = workers;
    const auto at_first = static_cast<std::int64_t>(linux_os().memory().resident);
    Growth growth;

    const RunPlan plan(setup, config, ranks, workers, nullptr);
    const std::int64_t of_plan = growth();
    MemorySource memory(linux_os(), config.memory, plan.partition.groups());
    NobodyElse network(RankId{ranks / 2}, ranks);
    OutputWriter output(nullptr, workers);
    LiveProgress progress;
    const std::atomic<int> stop_signal{0};
    Rank rank(plan, network, memory, output, progress, stop_signal);
    std::vector<std::unique_ptr<Worker>> made;
    for (std::uint32_t w = 0; w < workers; ++w)
        made.push_back(std::make_unique<Worker>(rank, WorkerId{w}));
    const std::int64_t of_rank = growth();

    std::uint64_t lps_here = 0;
    for (const auto& worker : made) {
        worker->executor().adopt_thread();
        worker->lps().build_groups();
        for (const Group* group : worker->core().groups) lps_here += group->count;
    }
    for (const auto& worker : made) worker->start();
    const std::int64_t of_lps = growth();
    nlohmann::json found = {
        {"lps", lps},
        {"ranks", ranks},
        {"workers", workers},
        {"groups", plan.partition.groups()},
        {"lps_of_rank", lps_here},
        {"resident_at_first", at_first},
        {"plan", of_plan},
        {"tables_of_rank_and_workers", of_rank},
        {"lps_with_events", of_lps},
        {"bytes_an_lp", static_cast<double>(of_lps) / static_cast<double>(lps_here)}};
    std::cout << found.dump(1) << std::endl;
    // The run cannot end, because the other ranks do not exist.
    std::_Exit(0);
}

}  // namespace
}  // namespace nw::bench

int main(int argc, char** argv) {
    const auto number = [&](int i, const char* otherwise) {
        return static_cast<std::uint32_t>(std::stoul(argc > i ? argv[i] : otherwise));
    };
    nw::bench::measure(number(1, "100000000"), number(2, "1024"), number(3, "2"));
}
