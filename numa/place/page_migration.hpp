// SPDX-License-Identifier: Apache-2.0
// pagemigd, the page-migration daemon of "NUMA Time Warp" (Pellegrini and Quaglia, PADS 2015,
// §3.4): threads that wake up once per period and move the pages of groups to the nodes of their
// workers. This file contains the threads; migration_share.hpp contains their work.
//
// The main thread starts these threads before workers are pinned and before there are groups. So
// the threads may run on every core that the process may use. serve() gives groups to the threads
// later. The threads block the signals that the main thread handles.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "numa/os/os.hpp"
#include "numa/place/memory_options.hpp"
#include "numa/place/migration_log.hpp"
#include "numa/place/migration_share.hpp"
#include "util/locks.hpp"

namespace nw {

class PageMigrationDaemon {
  public:
    // Starts options.threads threads. Starts none if the kernel refuses to move pages; the
    // constructor tests this with one page. Requires: the policy outlives this object.
    PageMigrationDaemon(Os& os, const PagemigdOptions& options, const PlacementPolicy& policy);
    ~PageMigrationDaemon() { stop(); }
    PageMigrationDaemon(const PageMigrationDaemon&) = delete;
    PageMigrationDaemon& operator=(const PageMigrationDaemon&) = delete;

    // Replaces the groups that the threads serve. The numbers of groups per thread differ by at
    // most one. Waits until running passes have ended. Requires: the groups exist until stop() or
    // the next call of serve() has returned. Thread: one at a time.
    void serve(const std::vector<PlacedGroup*>& groups);
    // Ends the threads, without waiting for the end of their period. Unfinished requests are
    // dropped. Thread: one at a time.
    void stop() noexcept;

    std::size_t threads() const noexcept { return threads_.size(); }
    std::size_t groups_of(std::size_t thread) const noexcept { return shares_[thread]->groups(); }
    // Whether all pages that can be moved are on the nodes that the policy requires since its last
    // change. Always false without a thread.
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
    std::vector<std::unique_ptr<MigrationShare>> shares_;  // one per requested thread

    std::stop_source stop_;
    Mutex mutex_;
    std::condition_variable_any wake_;
    bool serving_ NW_GUARDED_BY(mutex_) = false;   // the shares have got groups
    std::vector<std::unique_ptr<Mutex>> at_work_;  // by thread; locked during a pass

    std::vector<std::thread> threads_;
};

}  // namespace nw
