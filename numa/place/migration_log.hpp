// SPDX-License-Identifier: Apache-2.0
// The results of page migration: counters, and notices, for example about pages that could not be
// moved.
//
// Thread: any. The threads of the daemon write here and share no other data.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"
#include "util/locks.hpp"

namespace nw {

// Pages are 4 KiB pages; a huge page counts as 512. A page that is tried again in the next period
// counts again.
struct MigrationFigures {
    std::uint64_t pages_moved = 0;
    std::uint64_t pages_busy = 0;     // in use at that moment
    std::uint64_t pages_no_room = 0;  // the target node was full
    std::uint64_t pages_failed = 0;   // for other reasons
    std::uint64_t groups_served = 0;  // requests that were completed, with all pages
    std::uint64_t passes = 0;         // of one thread over its groups
    std::uint64_t busy_ns = 0;        // CPU time of the passes
};

class MigrationLog {
  public:
    struct Counters {
        std::atomic<std::uint64_t> pages_moved{0};
        std::atomic<std::uint64_t> pages_busy{0};
        std::atomic<std::uint64_t> pages_no_room{0};
        std::atomic<std::uint64_t> pages_failed{0};
        std::atomic<std::uint64_t> groups_served{0};
        std::atomic<std::uint64_t> passes{0};
        std::atomic<std::uint64_t> busy_ns{0};
    };
    Counters counters;

    // True after the kernel has refused to move any page. Further attempts are useless.
    bool refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

    // Each of these notices is stored once, even if its cause occurs repeatedly.
    void note_refused(Status status);
    void note_no_room(NodeId node, std::uint64_t bytes);
    void note_no_node(NodeId node, Status status);
    void note_kernel_balances();
    void note_no_memory();
    void note_fewer_threads(std::size_t started, std::size_t wanted, const char* why);

    MigrationFigures figures() const noexcept;
    std::vector<std::string> notices() const;

  private:
    enum class Topic : std::uint8_t { refused, no_room, no_node, balancing, no_memory, threads };
    void note(Topic topic, std::string text);

    std::atomic<bool> refused_{false};
    mutable Mutex mutex_;
    std::set<Topic> said_ NW_GUARDED_BY(mutex_);
    std::vector<std::string> notices_ NW_GUARDED_BY(mutex_);
};

}  // namespace nw
