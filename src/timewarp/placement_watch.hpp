// What a run does about where its pages and workers are: it starts the migration daemon, tells the policy
// once a period what the run did, and the workers what it orders; it looks now and then how much is remote,
// answers a user who asks meanwhile, and takes a last look at the end.
//
// The looks have a thread of their own, because workers have better things to do than to ask the
// kernel. On one node, and without a daemon that was asked for, there is neither thread nor look:
// everything is local there.
//
// Where ranks of a host share their seats, the policy of the first of them is told what all did, and orders
// are for the workers of all; the watches of the others tell it of their pages.
//
//     main thread   constructor, finish
//     one worker    begin, when every group exists; last_look, when nobody executes any more
//     own thread    the rest, until the last look
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/worker_threads.hpp"
#include "numa/place/page_migration.hpp"
#include "numa/place/placement_policy.hpp"
#include "plan/config.hpp"
#include "rank/worker_seats.hpp"
#include "stats/live_progress.hpp"
#include "stats/numa_report.hpp"
#include "stats/sample_history.hpp"
#include "timewarp/host_seats.hpp"

namespace nw {

class PlacementWatch {
  public:
    // Built before workers are bound to cores, so that its threads may run anywhere. What could not
    // be had becomes a notice.
    // Throws SetupError where the file of a machine is wrong.
    PlacementWatch(MemorySource& memory, const Config& config, const WorkerPlaces& where,
                   HostSeats& host, LiveProgress& progress, const std::vector<NodeInfo>& nodes,
                   std::vector<std::string>& notices);
    ~PlacementWatch() { stop(); }
    PlacementWatch(const PlacementWatch&) = delete;
    PlacementWatch& operator=(const PlacementWatch&) = delete;

    // Whether each worker is to leave a counter of its misses with its seat, from the event loop to the last
    // look.
    bool wants_misses() const noexcept { return thread_.joinable() && policy_->wants_misses(); }
    // Requires: the groups outlive finish(), and so do the seats.
    void begin(const std::vector<GroupMemory*>& groups, WorkerSeats& seats);
    // Groups come or go: from let_go() to take_up() nobody looks at any. Thread: one worker, when nobody
    // executes.
    void let_go();
    void take_up(const std::vector<GroupMemory*>& groups);
    // Ends all threads. A sample of it is the history's last.
    void last_look();

    // Requires: last_look() has been called.
    void finish(NumaReport& report, std::vector<std::string>& notices);

  private:
    using Clock = std::chrono::steady_clock;

    void stop() noexcept;
    void run();
    void answer_requests();
    void sample();
    void look_at_cpus();
    void give_seats(const std::vector<Place>& places);
    void tell_host();
    void end_period();
    PlacementPeriod period();
    RankPages own_pages() const;
    std::optional<double> missed_bytes() const;
    PlacementSample sample_of(const Placement& placement,
                              const MigrationFigures& figures) const noexcept;
    double seconds() const noexcept;
    Placement look(std::size_t pages) const;
    std::string describe(const Placement& placement) const;

    Os& os_;
    HostSeats& host_;
    LiveProgress& progress_;
    const std::vector<NodeInfo>& nodes_;
    const std::unique_ptr<PlacementPolicy> policy_;
    PageMigrationDaemon daemon_;
    const bool pin_;
    bool watched_;  // whether anybody wants to know
    double period_seconds_;

    mutable std::mutex groups_mutex_;
    std::vector<const GroupMemory*> groups_;  // under groups_mutex_
    Clock::time_point start_;                 // written before begun_, read-only then
    WorkerSeats* seats_ = nullptr;            // the same
    std::uint32_t requests_answered_ = 0;
    std::vector<int> cpus_;  // that this process may use
    // Of all workers of ranks that run on the same cores: where they began, or where the policy has put them.
    std::vector<Place> places_;
    const std::size_t first_place_;  // of those that this rank gives orders to
    double told_at_ = -1;            // seconds
    double period_begun_ = 0;        // seconds; and what had been counted then
    double cpu_seconds_then_ = 0;
    std::uint64_t committed_then_ = 0;
    std::optional<double> missed_then_;
    std::vector<std::vector<double>> mail_then_;
    SampleHistory<PlacementSample> history_;  // the own thread's until that ends
    std::optional<Placement> last_;
    std::optional<std::uint64_t> pages_shared_;

    std::mutex mutex_;
    std::condition_variable changed_;
    bool begun_ = false;  // under mutex_
    bool over_ = false;   // under mutex_
    std::thread thread_;
};

}  // namespace nw
