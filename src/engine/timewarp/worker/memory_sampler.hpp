// SPDX-License-Identifier: Apache-2.0
// Measures the memory of a worker by kind. Each worker measures its groups from time to time, and
// keeps the measurement with the largest sum. The report adds these over the workers: an upper
// estimate of the maximum at any one time.
//
// The memory is measured and not counted continuously, so that the hot path has no counters only
// for this report.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "results/statistics/memory_kinds.hpp"

namespace nw {

struct Group;

// The measurements of one worker. Thread: the worker's.
class MemorySampler {
  public:
    using Clock = std::chrono::steady_clock;

    bool is_due(Clock::time_point now) const noexcept { return now >= next_; }

    // Measures the groups. `others`: the saved states of these groups, and the worker's memory
    // outside of the groups. Cost: some loads per group.
    void sample(Clock::time_point now, const std::vector<Group*>& groups,
                const MemoryKinds& others) noexcept;

    const MemoryKinds& largest() const noexcept { return largest_; }

  private:
    Clock::time_point next_{};
    MemoryKinds largest_;
};

}  // namespace nw
