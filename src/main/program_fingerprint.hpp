// Which program this is, to the bit.
#pragma once

#include <string>

namespace nw {

// A hash over the executable's file, 32 hex digits; "unknown" if it cannot be read.
std::string program_fingerprint();

}  // namespace nw
