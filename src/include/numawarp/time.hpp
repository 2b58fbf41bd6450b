// Virtual time is a double in the model's own unit (seconds for traffic, calls, queues).
// It is not a class: model writers compute with it. It is never negative and never NaN; the engine
// checks that where an event is scheduled.
#pragma once

#include <limits>

namespace nw {

using VirtualTime = double;

inline constexpr VirtualTime time_zero = 0.0;
inline constexpr VirtualTime time_infinity = std::numeric_limits<VirtualTime>::infinity();

}  // namespace nw
