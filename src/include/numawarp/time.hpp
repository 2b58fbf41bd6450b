// SPDX-License-Identifier: Apache-2.0
// Virtual time: the clock of the model, in the model's own unit (for example seconds for traffic,
// calls or queues).
//
// VirtualTime is a plain double and not a class, because models compute with it. A virtual time is
// never negative and never NaN. The engine checks this when an event is scheduled.
#pragma once

#include <limits>

namespace nw {

// A point in virtual time, or a duration, in the model's unit.
using VirtualTime = double;

// The time at which every run begins.
inline constexpr VirtualTime time_zero = 0.0;
// Later than every event. As an end time it means that there is no end; as the time of an event it
// means never.
inline constexpr VirtualTime time_infinity = std::numeric_limits<VirtualTime>::infinity();

}  // namespace nw
