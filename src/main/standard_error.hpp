// Words for the user. Standard error may be a log on a full disk, or a terminal that is gone: no reason
// to end a run, or to end with another exit code.
#pragma once

#include <cstdio>
#include <string_view>

namespace nw {

inline void write_to_stderr(std::string_view text) noexcept {
    // Nobody can be told that it failed.
    [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace nw
