// SPDX-License-Identifier: Apache-2.0
// Reduces the memory of a worker near --memory-cap (memory_budget.hpp). The worker limits the
// number of events that it holds beyond GVT, LPs keep no part of a final history, and free pages
// return to the kernel.
//
// Longer state-saving intervals would not reduce the memory. An LP keeps its history back to the
// oldest saved state that is needed, and the additional events take more memory than the omitted
// states. An LP without a history needs neither events nor states.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/memory_budget.hpp"
#include "engine/timewarp/worker/throttle.hpp"
#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class MemoryReclaim {
  public:
    explicit MemoryReclaim(WorkerCore& core) : core_(core) {}

    // Called for each new GVT. `uncommitted`: the number of events that the worker has executed and
    // not committed. `pending`: the number of its pending events.
    void on_gvt(std::uint64_t uncommitted, std::size_t pending);

    // Maximum number of uncommitted events that the worker's own memory allows.
    // Throttle::unlimited: memory is not short.
    std::uint32_t events_ahead_max() const noexcept { return events_ahead_max_; }

    // Whether LPs keep nothing of a final history.
    bool is_low() const noexcept { return is_low_; }

    // Called in every turn in which memory is not ample. Frees memory for a limited time.
    void give_back(MemoryBudget::Level level);
    // Called in every turn, also if memory is not short. Returns to the kernel the pages of mail
    // that was read long ago.
    void trim_mail();

  private:
    std::uint64_t free_heap_bytes(std::size_t pending) noexcept;
    void forget_some();
    void release_some(bool full);

    WorkerCore& core_;
    std::uint32_t events_ahead_max_ = Throttle::unlimited;
    bool is_low_ = false;
    std::size_t forgotten_groups_ = 0;  // groups whose LPs were all visited
    std::size_t forgotten_lps_ = 0;     // visited LPs of the next group
    WorkerCore::Clock::time_point walk_due_{};
    std::size_t released_groups_ = 0;  // index in core_.groups: the last group that was visited
    WorkerCore::Clock::time_point next_release_{};
    WorkerCore::Clock::time_point heaps_counted_at_{};
    std::uint64_t free_heap_bytes_ = 0;
    WorkerCore::Clock::time_point trim_due_{};  // when the next walk of trim_mail() begins
    std::size_t trimmed_ = 0;                   // groups that the current walk has visited
};

}  // namespace nw
