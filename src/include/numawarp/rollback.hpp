// By which method the state of an LP comes back when events are rolled back: --rollback.
#pragma once

#include <cstdint>

namespace nw {

enum class Rollback : std::uint8_t { snapshot, copy, reverse };

}  // namespace nw
