// SPDX-License-Identifier: Apache-2.0
// The number of random cases that a test runs. With a sanitizer, each case is many times slower,
// and errors are found within few cases. Therefore a fifth of the cases is enough. The checks of
// the paranoid preset make a case about three times slower. Therefore this preset runs a third of
// the cases. The environment variable NUMAWARP_EFFORT, for example 0.25, multiplies the number of
// cases. A test that requires rare situations passes a minimum number of cases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "util/paranoid.hpp"

namespace nw::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

inline std::size_t effort(std::size_t cases, std::size_t at_least = 1) {
    const char* const words = std::getenv("NUMAWARP_EFFORT");
    const double share = words != nullptr ? std::atof(words) : 1;
    const std::size_t most = sanitized ? cases / 5 : paranoid ? cases / 3 : cases;
    return std::max(at_least, static_cast<std::size_t>(share * static_cast<double>(most)));
}

}  // namespace nw::test
