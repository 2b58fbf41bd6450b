// What one handler may leave behind on its thread for the next, as a word: the same wherever nothing
// was left. It goes into the digest.
#pragma once

#include <cstdint>

namespace hostile {

std::uint64_t health();

}  // namespace hostile
