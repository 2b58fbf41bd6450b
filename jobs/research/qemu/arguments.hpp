// SPDX-License-Identifier: Apache-2.0
// The arguments of a plug-in, NAME=VALUE.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

namespace nw::qemu {

// The numbers of a text N:N:…; nothing if the text contains anything else.
inline std::vector<std::uint64_t> numbers(std::string_view text) {
    std::vector<std::uint64_t> found;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data();; ++at) {
        const auto [next, error] = std::from_chars(at, end, found.emplace_back());
        if (error != std::errc() || (next != end && *next != ':')) return {};
        if (next == end) return found;
        at = next;
    }
}

// Calls set(name, value) for each argument. Returns false if an argument has no `=`, or if set()
// has returned false.
template <class Set>
bool for_each_argument(int argc, char** argv, Set&& set) {
    for (int i = 0; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const std::size_t equals = argument.find('=');
        if (equals == argument.npos) return false;
        if (!set(argument.substr(0, equals), argument.substr(equals + 1))) return false;
    }
    return true;
}

}  // namespace nw::qemu
