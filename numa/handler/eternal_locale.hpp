// The process's C++ locale, shared by all LPs: each std::ostringstream, std::regex, … copies it and
// counts itself. The counts lie outside of LPs, and what handlers count there is not rolled back: a
// stream that is destroyed, and destroyed again after a rollback, counts down twice.
#pragma once

#include <locale>

namespace nw {

// Gives the locale and its facets counts that never come near zero, and makes what libstdc++ would
// make of it at its first use, in some handler. Requires: platform mode, and no handler runs yet.
void make_eternal(const std::locale& locale);

}  // namespace nw
