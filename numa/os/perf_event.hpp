// SPDX-License-Identifier: Apache-2.0
// perf_event_open(2): the counters of the calling thread, for Os (numa/os/os.hpp).
#pragma once

#include "numa/os/os.hpp"

namespace nw {

Status open_perf_event(HardwareCounter counter, int& handle) noexcept;
Status read_perf_event(int handle, CounterReading& reading) noexcept;

}  // namespace nw
