// What page migration did and why it did not do more: figures, and notices that are said once.
// Thread: any; the threads of the daemon write here and share nothing else.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"

namespace nw {

// Pages are small ones; of a huge page, 512. What is tried again in the next period counts again.
struct MigrationFigures {
    std::uint64_t pages_moved = 0;
    std::uint64_t pages_busy = 0;     // in use by somebody just then
    std::uint64_t pages_no_room = 0;  // on the node they were to go to
    std::uint64_t pages_failed = 0;   // for any other reason
    std::uint64_t groups_served = 0;  // requests of owners that are done, every page of them
    std::uint64_t passes = 0;         // of one thread over its groups
    std::uint64_t busy_ns = 0;        // CPU time of these
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

    // True after the kernel has refused to move pages at all: asking again is no use.
    bool refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

    // Each of these is said once, however often it happens.
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
    mutable std::mutex mutex_;
    std::set<Topic> said_;
    std::vector<std::string> notices_;
};

}  // namespace nw
