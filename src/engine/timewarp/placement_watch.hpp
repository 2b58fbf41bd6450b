// SPDX-License-Identifier: Apache-2.0
// Monitors where the pages and workers of a run are. It starts the migration daemon. Once per
// period it reports the run's figures to the policy and passes the policy's orders to the workers.
// It samples the share of remote pages, answers requests of the user, and takes a last sample at
// the end.
//
// A separate thread takes the samples, because the system calls would delay a worker. Without a
// daemon, the thread is started and samples are taken only if workers are bound to CPUs and more
// than one node has memory; otherwise all pages are local.
//
// If ranks of a host share their assignments, the first rank's policy receives the figures of all
// these ranks, and gives orders to the workers of all these ranks. The other ranks only publish
// their page figures.
//
//     main thread   constructor, finish
//     one worker    begin, when all groups exist; last_sample, when no worker executes any more
//     own thread    the rest, until last_sample
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/timewarp/host_placement.hpp"
#include "engine/timewarp/rank/cpu_assignments.hpp"
#include "engine/worker_threads.hpp"
#include "memory/region/memory_source.hpp"
#include "numa/place/other_programs.hpp"
#include "numa/place/page_migration.hpp"
#include "numa/place/placement_policy.hpp"
#include "plan/config.hpp"
#include "results/statistics/live_progress.hpp"
#include "results/statistics/numa_report.hpp"
#include "results/statistics/sample_history.hpp"
#include "util/locks.hpp"

namespace nw {

class PlacementWatch {
  public:
    // Built before workers are bound to cores, so that its threads may run anywhere. Adds a notice
    // for each resource that is not available. Throws SetupError if the machine file is wrong.
    PlacementWatch(MemorySource& memory, const Config& config, const WorkerPlaces& where,
                   HostPlacement& host, LiveProgress& progress, const std::vector<NodeInfo>& nodes,
                   std::vector<std::string>& notices);
    ~PlacementWatch() { stop(); }
    PlacementWatch(const PlacementWatch&) = delete;
    PlacementWatch& operator=(const PlacementWatch&) = delete;

    // Whether each worker must register a counter of its cache misses with its assignment, from the
    // event loop to last_sample().
    bool wants_misses() const noexcept { return thread_.joinable() && policy_->wants_misses(); }
    // Whether each worker must register its clock with its assignment, from the event loop to
    // last_sample().
    bool wants_cpu_times() const noexcept {
        return thread_.joinable() && pin_ && policy_->moves_workers();
    }
    // Requires: the groups and the assignments outlive finish().
    void begin(const std::vector<PlacedGroup*>& groups, CpuAssignments& assignments);
    // For a pause in which groups are added and removed: no group is accessed between
    // release_groups() and watch_groups(). Thread: one worker, while no worker executes.
    void release_groups();
    void watch_groups(const std::vector<PlacedGroup*>& groups);
    // Ends all threads, and adds the last sample to the history.
    void last_sample();

    // Requires: last_sample() has been called.
    void finish(NumaReport& report, std::vector<std::string>& notices);

  private:
    using Clock = std::chrono::steady_clock;

    void stop() noexcept;
    void run();
    void answer_requests();
    void sample();
    void look_at_cpus();
    void order_places(const std::vector<Place>& places);
    void publish_figures();
    void end_period();
    PlacementPeriod period();
    RankPages own_pages() const;
    std::uint64_t other_threads_ns() const;
    std::vector<WorkerTime> worker_times() const;
    std::optional<double> missed_bytes() const;
    PlacementSample sample_of(const Placement& placement,
                              const MigrationFigures& figures) const noexcept;
    double seconds() const noexcept;
    Placement sample(std::size_t pages) const;
    std::string describe(const Placement& placement) const;

    Os& os_;
    HostPlacement& host_;
    LiveProgress& progress_;
    const std::vector<NodeInfo>& nodes_;
    const std::unique_ptr<PlacementPolicy> policy_;
    PageMigrationDaemon daemon_;
    const bool pin_;
    bool watched_;  // whether samples are taken
    double period_seconds_;

    mutable Mutex groups_mutex_;
    std::vector<const PlacedGroup*> groups_ NW_GUARDED_BY(groups_mutex_);
    Clock::time_point start_;                // written before begun_ is set, read-only afterwards
    CpuAssignments* assignments_ = nullptr;  // as start_
    std::uint32_t requests_answered_ = 0;
    std::vector<int> cpus_;  // CPUs that this process may use
    // The places of all workers of the ranks on the same cores: the places at the start, or the
    // places that the policy chose later.
    std::vector<Place> places_;
    // Index in places_ of the first assignment to which this rank gives orders.
    const std::size_t first_place_;
    double published_at_ = -1;  // seconds; below 0: never
    double period_begun_ = 0;   // seconds; the figures below are from that time
    std::uint64_t cpu_ns_then_ = 0;
    std::uint64_t committed_then_ = 0;
    std::optional<double> missed_then_;
    std::optional<OtherPrograms> others_;  // none: the policy does not need them
    std::vector<std::vector<double>> mail_then_;
    SampleHistory<PlacementSample> history_;  // used by thread_ until thread_ ends
    std::optional<Placement> last_;
    std::optional<std::uint64_t> pages_shared_;

    Mutex mutex_;
    std::condition_variable_any changed_;
    bool begun_ NW_GUARDED_BY(mutex_) = false;
    bool over_ NW_GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

}  // namespace nw
