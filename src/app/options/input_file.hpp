// SPDX-License-Identifier: Apache-2.0
// Reads a whole file that the user has named. The file may be a pipe, as in `--config <(command)`.
// A file without end, or a pipe without a writer, is an error: a run must not hang before it has
// begun.
#pragma once

#include <cstddef>
#include <string>

namespace nw {

// Throws std::system_error with the kernel's error (for example ENOENT, or EISDIR for a folder);
// with EFBIG if there are more than `bytes_max` bytes, also for a device like /dev/zero; and with
// ETIMEDOUT if a pipe delivers nothing for 5 s.
std::string read_input_file(const std::string& path, std::size_t bytes_max);

}  // namespace nw
