// Virtual time is a double in the model's own unit (seconds for traffic, calls, queues).
// It is not a class: model writers compute with it. It is never negative and never NaN; the engine
// checks that where an event is scheduled.
#pragma once

#include <limits>

namespace nw {

// A point in virtual time, or a length of it, in the model's unit.
using VirtualTime = double;

// When every run begins.
inline constexpr VirtualTime time_zero = 0.0;
// Later than every event: no end time, never.
inline constexpr VirtualTime time_infinity = std::numeric_limits<VirtualTime>::infinity();

}  // namespace nw
