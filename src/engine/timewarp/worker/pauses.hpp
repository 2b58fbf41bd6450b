// SPDX-License-Identifier: Apache-2.0
// A worker's part in a pause. In a pause the whole run is saved, groups move between ranks, or
// another engine takes the run over.
//
// Like the end of a run, a pause begins at a GVT round (standstill.hpp). Each worker immediately
// undoes everything beyond this GVT, so that no worker sends anything after its next cut. In
// contrast to the end of a run, messages that still arrive are kept. While all workers are paused,
// no LP has a history and no message is in flight. So a group consists of its memory and its
// pending events.
//
// Owner: Worker. Thread: the worker's thread. If not stated otherwise, a function requires that all
// workers of all ranks are paused.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/saved_worker.hpp"
#include "engine/timewarp/worker/standstill.hpp"
#include "engine/timewarp/worker/worker_core.hpp"
#include "numa/os/os.hpp"

namespace nw {

class Committer;
class Ending;
class Rollbacks;
class SafeHorizon;
class Throttle;
struct Contribution;
struct GvtResult;
struct LoadedModule;
struct PausedRun;
struct StrayPointers;

class Pauses final : public SavedWorker {
  public:
    Pauses(WorkerCore& core, Throttle& throttle, SafeHorizon& safe_horizon, Committer& committer,
           Ending& ending, Standstill& standstill, Rollbacks& rollbacks)
        : core_(core),
          throttle_(throttle),
          safe_horizon_(safe_horizon),
          committer_(committer),
          ending_(ending),
          standstill_(standstill),
          rollbacks_(rollbacks) {}

    // Called for the round with which a pause begins. Requires: the worker is running.
    void begin(const GvtResult& result);
    // Called for each later round until the worker is paused.
    void on_gvt(const GvtResult& result);

    // Data of the pause.
    Standstill::Purpose purpose() const noexcept { return standstill_.purpose(); }
    Clock::time_point began_at() const noexcept { return standstill_.pause_began(); }
    VirtualTime paused_at() const noexcept { return standstill_.bound().time; }

    // Contributes the numbers of events. Events that pauses have undone are not counted.
    void contribute(Contribution& sums) const noexcept;

    // --- saving the run ---

    AddressRange stack() const noexcept override;
    void save_at(Clock::time_point time) noexcept override;
    SavedPart save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) override;
    void resume() noexcept override;
    void end_interrupted() noexcept override;

    // --- moving groups to other ranks, and leaving the run ---

    // Returns each leaving group as bytes. Returns no bytes for a group that stays because
    // `may_leave` is false for it. The memory of the groups is kept until Rank::drop_group().
    std::vector<std::optional<std::string>> give_groups(
        const std::vector<std::uint32_t>& leaving, const std::vector<LoadedModule>& modules,
        const AddressMap& map, const std::function<bool(const StrayPointers&)>& may_leave);
    // Gives the groups and their progress to another engine. After that, the worker executes
    // nothing.
    void leave_to(PausedRun& paused);

  private:
    void drop_canceled();
    void finish_intervals();
    void forget_past(Group& group);

    WorkerCore& core_;
    Throttle& throttle_;
    SafeHorizon& safe_horizon_;
    Committer& committer_;
    Ending& ending_;
    Standstill& standstill_;
    Rollbacks& rollbacks_;
    std::uint64_t rolled_back_ = 0;  // events that pauses have undone
};

}  // namespace nw
