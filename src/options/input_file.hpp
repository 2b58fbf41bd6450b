// A file that the user names, read whole. It may be a pipe, as `--config <(command)` makes one, but
// nothing that never ends or that nobody writes to: a run must not hang before it has begun.
#pragma once

#include <cstddef>
#include <string>

namespace nw {

// Throws std::system_error with what the kernel says: no such file, a folder; EFBIG beyond `bytes_max`,
// which a device like /dev/zero has, too; ETIMEDOUT for a pipe in which nothing comes for 5 s.
std::string read_input_file(const std::string& path, std::size_t bytes_max);

}  // namespace nw
