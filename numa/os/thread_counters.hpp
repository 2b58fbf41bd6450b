// SPDX-License-Identifier: Apache-2.0
// The counts of the processor and the kernel for a thread during an interval (--hardware-counters).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "numa/os/os.hpp"

namespace nw {

// Indexed by HardwareCounter. For several threads, a count is the sum over the threads; none if one
// of the threads has no count.
struct HardwareCounts {
    std::array<std::optional<std::uint64_t>, hardware_counter_count> counts;
    // The reason for each missing count; 0: the counter was not requested.
    std::array<Status, hardware_counter_count> refused{};

    std::optional<std::uint64_t>& operator[](HardwareCounter counter) noexcept {
        return counts[static_cast<std::size_t>(counter)];
    }
    HardwareCounts& operator+=(const HardwareCounts& other) noexcept;
};

// Counts the work of one thread. Thread: this thread constructs, reads and destroys the object.
class ThreadCounters {
  public:
    // Starts to count if `on` is true.
    ThreadCounters(Os& os, bool on) noexcept;
    ~ThreadCounters();
    ThreadCounters(const ThreadCounters&) = delete;
    ThreadCounters& operator=(const ThreadCounters&) = delete;

    // The counts since the construction. A counter that ran for only part of the time is scaled to
    // the whole time. A counter that never ran is refused with EBUSY.
    HardwareCounts counts() const noexcept;

  private:
    Os& os_;
    std::array<std::optional<int>, hardware_counter_count> handles_;
    std::array<Status, hardware_counter_count> refused_{};
};

}  // namespace nw
