// What the processor and the kernel count of a thread from here to there (--hardware-counters).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "numa/os/os.hpp"

namespace nw {

// By HardwareCounter. Of several threads: the sum, if it was counted for each of them.
struct HardwareCounts {
    std::array<std::optional<std::uint64_t>, hardware_counter_count> counts;
    std::array<Status, hardware_counter_count> refused{};  // why there is none; 0: nobody asked

    std::optional<std::uint64_t>& operator[](HardwareCounter counter) noexcept {
        return counts[static_cast<std::size_t>(counter)];
    }
    HardwareCounts& operator+=(const HardwareCounts& other) noexcept;
};

// Thread: the one whose work it counts, which makes, reads and destroys it.
class ThreadCounters {
  public:
    // Counts from now on, if `on`.
    ThreadCounters(Os& os, bool on) noexcept;
    ~ThreadCounters();
    ThreadCounters(const ThreadCounters&) = delete;
    ThreadCounters& operator=(const ThreadCounters&) = delete;

    // So far. A counter that ran for a part of the time only is scaled to all of it; one that never ran
    // is refused with EBUSY.
    HardwareCounts counts() const noexcept;

  private:
    Os& os_;
    std::array<std::optional<int>, hardware_counter_count> handles_;
    std::array<Status, hardware_counter_count> refused_{};
};

}  // namespace nw
