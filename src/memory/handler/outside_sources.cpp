// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/outside_sources.hpp"

#include <array>
#include <atomic>

namespace nw {

constinit std::int64_t clock_shift_seconds = 0;

namespace {
constinit std::array<std::atomic<const char*>, 3> used{};
}

void note_outside_source(OutsideSource source, const char* function) noexcept {
    std::atomic<const char*>& first = used[static_cast<std::size_t>(source)];
    if (first.load(std::memory_order_relaxed) == nullptr)
        first.store(function, std::memory_order_relaxed);
}

std::vector<std::string> outside_sources_used() {
    std::vector<std::string> names;
    for (const std::atomic<const char*>& function : used)
        if (const char* const name = function.load(std::memory_order_relaxed))
            names.emplace_back(name);
    return names;
}

}  // namespace nw
