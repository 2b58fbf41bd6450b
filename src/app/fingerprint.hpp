// SPDX-License-Identifier: Apache-2.0
// Fingerprints of the program and of the files that it reads. If two files differ in one bit, their
// fingerprints differ.
#pragma once

#include <string>

namespace nw {

// Returns a hash of the file's content as 32 hex digits, or "unknown" if the file cannot be read.
std::string file_fingerprint(const std::string& path);

// Returns the fingerprint of the program's executable file.
std::string program_fingerprint();

}  // namespace nw
