// SPDX-License-Identifier: Apache-2.0
// A hash of the parts of the thread's state that a handler may change for later handlers. The hash
// is the same whenever no handler has changed these parts. It is a part of the digest.
#pragma once

#include <cstdint>

namespace hostile {

std::uint64_t health();

}  // namespace hostile
