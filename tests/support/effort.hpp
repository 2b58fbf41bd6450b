// How many random cases a test runs. A sanitizer makes each many times dearer and finds its errors
// in few of them, so a fifth is enough there; the checks of the paranoid preset make it about three times
// as dear, so it gets a third.
#pragma once

#include <cstddef>

#include "base/paranoid.hpp"

namespace nw::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

constexpr std::size_t effort(std::size_t cases) {
    return sanitized ? cases / 5 : paranoid ? cases / 3 : cases;
}

}  // namespace nw::test
