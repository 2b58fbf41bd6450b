// perf_event_open(2): counters of the calling thread, as numa/os/os.hpp wants them.
#pragma once

#include "numa/os/os.hpp"

namespace nw {

Status open_perf_event(HardwareCounter counter, int& handle) noexcept;
Status read_perf_event(int handle, CounterReading& reading) noexcept;

}  // namespace nw
