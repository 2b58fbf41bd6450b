// A worker near --memory-cap (memory_budget.hpp): how many events it may hold beyond GVT, LPs that
// keep nothing of a past that is final, and free pages that go back to the kernel.
//
// Longer state-saving intervals would be no help: history is kept back to the oldest saved state needed,
// and the events in it are more than the states that are spared. An LP without a past needs neither.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/memory_budget.hpp"
#include "worker/throttle.hpp"
#include "worker/worker_core.hpp"

namespace nw {

class MemoryRelief {
  public:
    explicit MemoryRelief(WorkerCore& core) : core_(core) {}

    // A new GVT is known. `uncommitted`: events that the worker has executed and not committed; `pending`:
    // events that it has not executed.
    void on_gvt(std::uint64_t uncommitted, std::size_t pending);

    // How many events the worker may hold uncommitted, by its own memory; Throttle::unlimited: there is
    // enough.
    std::uint32_t events_ahead_max() const noexcept { return events_ahead_max_; }

    // LPs keep nothing of what is final.
    bool is_low() const noexcept { return is_low_; }

    // Called in every turn in which memory is not ample. Gives back what it can, for a little while.
    void give_back(MemoryBudget::Level level);
    // Called in every turn. Pages of mail that was read long ago go back, whether memory is short or not.
    void trim_mail();

  private:
    std::uint64_t free_heap_bytes(std::size_t pending) noexcept;
    void forget_some();
    void release_some(bool full);

    WorkerCore& core_;
    std::uint32_t events_ahead_max_ = Throttle::unlimited;
    bool is_low_ = false;
    std::size_t forgotten_groups_ = 0;  // of the worker's: before it all was forgotten
    std::size_t forgotten_lps_ = 0;     // of the next group
    std::size_t released_groups_ = 0;   // of the worker's: the last that was looked at
    WorkerCore::Clock::time_point next_release_{};
    WorkerCore::Clock::time_point heaps_counted_at_{};
    std::uint64_t free_heap_bytes_ = 0;
    WorkerCore::Clock::time_point trim_due_{};  // when the next walk of trim_mail() begins
    std::size_t trimmed_ = 0;                   // groups that the walk under way has done
};

}  // namespace nw
