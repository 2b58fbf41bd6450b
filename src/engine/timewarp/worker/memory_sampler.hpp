// SPDX-License-Identifier: Apache-2.0
// Measures the memory of a worker by kind. Each worker measures its groups from time to time, and
// keeps the measurement with the largest sum. The report adds these measurements over all workers.
// The sum is an upper estimate of the largest memory at any one time.
//
// A continuous count would need counters in the code that is executed for each event, only for this
// report. Therefore the memory is measured from time to time.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "results/statistics/memory_kinds.hpp"

namespace nw {

struct Group;

// The measurements of one worker. Thread: the worker's thread.
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
