// pagemigd, the page migration daemon of "NUMA Time Warp" (Pellegrini and Quaglia, PADS 2015, §3.4):
// threads that wake up once a period and bring the pages of groups to the nodes of their workers.
// What a thread does then is in migration_share.hpp; here are the threads themselves.
//
// They are built by the main thread, before workers are pinned and before there are groups, so that
// they may run on any core that the process was given; serve() hands them the groups later. They
// block the signals that are the main thread's business.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "numa/heap/group_memory.hpp"
#include "numa/os/os.hpp"
#include "numa/place/migration_log.hpp"
#include "numa/place/migration_share.hpp"
#include "numa/region/memory_options.hpp"

namespace nw {

class PageMigrationDaemon {
  public:
    // Starts options.threads threads; none if that is 0, or if the kernel will not move pages, which
    // is tried with a page of our own.
    // Requires: the policy outlives this.
    PageMigrationDaemon(Os& os, const PagemigdOptions& options, const PlacementPolicy& policy);
    ~PageMigrationDaemon() { stop(); }
    PageMigrationDaemon(const PageMigrationDaemon&) = delete;
    PageMigrationDaemon& operator=(const PageMigrationDaemon&) = delete;

    // The groups to look after from now on, and no others; shared out so that threads have
    // numbers of groups that differ by at most one. Waits for passes that are under way. Requires: they
    // outlive stop(), or the next call. Thread: one at a time.
    void serve(const std::vector<GroupMemory*>& groups);
    // Ends the threads, which do not wait for the end of their period. Requests that stand are
    // dropped. Thread: one at a time.
    void stop() noexcept;

    std::size_t threads() const noexcept { return threads_.size(); }
    std::size_t groups_of(std::size_t thread) const noexcept { return shares_[thread]->groups(); }
    // Whether pages are where the policy wants them since it last changed its mind, as far as they can be.
    // Without a thread they never are.
    bool has_caught_up() const noexcept;
    MigrationFigures figures() const noexcept { return log_.figures(); }
    std::vector<std::string> notices() const { return log_.notices(); }

  private:
    void start(std::size_t threads);
    void run(std::size_t number);
    bool sleep_until_next_pass();

    const double period_seconds_;
    const PlacementPolicy& policy_;
    MigrationLog log_;
    std::vector<std::unique_ptr<MigrationShare>> shares_;  // one a thread that was asked for

    std::stop_source stop_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool serving_ = false;  // under the mutex; the shares have had groups
    std::vector<std::unique_ptr<std::mutex>> at_work_;  // by thread: held in a pass

    std::vector<std::thread> threads_;
};

}  // namespace nw
