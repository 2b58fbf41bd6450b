// SPDX-License-Identifier: Apache-2.0
#include "numa/os/thread_counters.hpp"

#include <cerrno>

namespace nw {

HardwareCounts& HardwareCounts::operator+=(const HardwareCounts& other) noexcept {
    for (std::size_t i = 0; i < hardware_counter_count; ++i) {
        if (counts[i] && other.counts[i])
            *counts[i] += *other.counts[i];
        else
            counts[i].reset();
        if (refused[i] == 0) refused[i] = other.refused[i];
    }
    return *this;
}

ThreadCounters::ThreadCounters(Os& os, bool on) noexcept : os_(os) {
    if (!on) return;
    for (std::size_t i = 0; i < hardware_counter_count; ++i) {
        int handle = 0;
        refused_[i] = os_.open_counter(HardwareCounter{static_cast<std::uint8_t>(i)}, handle);
        if (refused_[i] == 0) handles_[i] = handle;
    }
}

ThreadCounters::~ThreadCounters() {
    for (const std::optional<int>& handle : handles_)
        if (handle) os_.close_counter(*handle);
}

HardwareCounts ThreadCounters::counts() const noexcept {
    HardwareCounts found;
    found.refused = refused_;
    for (std::size_t i = 0; i < hardware_counter_count; ++i) {
        if (!handles_[i]) continue;
        CounterReading reading;
        found.refused[i] = os_.read_counter(*handles_[i], reading);
        if (found.refused[i] != 0) continue;
        if (reading.ran_ns == 0)
            found.refused[i] = EBUSY;
        else if (reading.ran_ns == reading.wanted_ns)
            found.counts[i] = reading.count;
        else
            found.counts[i] = static_cast<std::uint64_t>(static_cast<double>(reading.count) *
                                                         static_cast<double>(reading.wanted_ns) /
                                                         static_cast<double>(reading.ran_ns));
    }
    return found;
}

}  // namespace nw
