// SPDX-License-Identifier: Apache-2.0
// The conservative engine on one rank: WindowRank and WindowWorker in a ThreadedRun.

#include "engine/inorder/conservative.hpp"

#include <new>
#include <optional>
#include <vector>

#include "engine/inorder/window_rank.hpp"
#include "engine/inorder/window_worker.hpp"
#include "engine/threaded_run.hpp"
#include "lp/group.hpp"
#include "numa/place/group_pages.hpp"
#include "numa/place/placement_probe.hpp"

namespace nw {
namespace {

class ConservativeRun final : public ThreadedRun<WindowRank, WindowWorker> {
  public:
    using ThreadedRun::ThreadedRun;

  private:
    const WindowSums& sums() const noexcept { return rank_.rounds().result(); }

    void build_groups(std::uint32_t w) override { workers_[w]->lps().set_up(); }

    // The reduction of each window also finds the earliest failure.
    std::optional<RankId> agree_on_failure() override {
        rank_.finish_sending();
        if (!sums().failed()) return std::nullopt;
        return RankId{sums().failed_rank};
    }

    int agreed_signal() const noexcept override { return sums().stop; }

    // Takes one sample of the nodes of pages. This engine does not move groups, so one sample is
    // enough.
    void add_results() override try {
        NumaReport& numa = run_.result.numa;
        if (!pages_can_be_remote(run_.places, numa.nodes)) return;
        std::vector<const PlacedGroup*> groups;
        for (const auto& worker : workers_)
            for (const Group* group : worker->executor().groups()) groups.push_back(&group->memory);
        numa.set_placement(probe_placement(run_.memory.os(), groups, pages_of_last_sample),
                           run_.result.notices);
        numa.pages_shared = pages_shared_between_groups(groups);
    } catch (const std::bad_alloc&) {
        // The run is done: a lack of memory for the sample must not make it fail.
    }
};

}  // namespace

void run_conservative(EngineRun& run) {
    run_threaded<WindowRank>(run, [&](WindowRank& rank) { ConservativeRun(run, rank).run(); });
}

}  // namespace nw
