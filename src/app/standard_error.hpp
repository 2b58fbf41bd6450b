// SPDX-License-Identifier: Apache-2.0
// Messages for the user. Standard error may be a file on a full disk, or a closed terminal. Such a
// failure neither ends the run nor changes its exit code.
#pragma once

#include <cstdio>
#include <string_view>

namespace nw {

inline void write_to_stderr(std::string_view text) noexcept {
    // A failure is ignored: there is no other place to report it.
    [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

}  // namespace nw
