// SPDX-License-Identifier: Apache-2.0
// The C++ locale of the process, which all LPs share. Each std::ostringstream, std::regex, … copies
// this locale and increments the locale's reference count. The counts are outside of LPs, so
// changes by handlers are not rolled back. For example, a stream that is destroyed, and destroyed
// again after a rollback, decrements the count twice.
#pragma once

#include <locale>

namespace nw {

// Sets the reference counts of the locale and its facets so high that they never come near zero.
// Also fills the caches that libstdc++ would otherwise fill at the first use, in a handler.
// Requires: platform mode, and no handler runs yet.
void make_eternal(const std::locale& locale);

}  // namespace nw
