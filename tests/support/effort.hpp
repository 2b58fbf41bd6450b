// How many random cases a test runs. A sanitizer makes each many times dearer and finds its errors
// in few of them, so a fifth is enough there; the checks of the paranoid preset make it about three times
// as dear, so it gets a third. NUMAWARP_EFFORT in the environment, as 0.25, is that share of it all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "base/paranoid.hpp"

namespace nw::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

inline std::size_t effort(std::size_t cases) {
    const char* const words = std::getenv("NUMAWARP_EFFORT");
    const double share = words != nullptr ? std::atof(words) : 1;
    const std::size_t most = sanitized ? cases / 5 : paranoid ? cases / 3 : cases;
    return std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(most)));
}

}  // namespace nw::test
