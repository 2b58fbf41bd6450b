// Which program this is, and which files it reads, to the bit.
#pragma once

#include <string>

namespace nw {

// A hash over the file, 32 hex digits; "unknown" if it cannot be read.
std::string file_fingerprint(const std::string& path);

// The fingerprint of the executable's file.
std::string program_fingerprint();

}  // namespace nw
