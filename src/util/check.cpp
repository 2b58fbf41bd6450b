// SPDX-License-Identifier: Apache-2.0
#include "util/check.hpp"

#include <fmt/format.h>

namespace nw {

ErrorContext& error_context() noexcept {
    static thread_local ErrorContext here;
    return here;
}

void check_failed(const char* expression, const char* file, int line) {
    const ErrorContext& at = error_context();
    std::string where;
    if (at.rank >= 0) where += fmt::format(" rank {}", at.rank);
    if (at.worker >= 0) where += fmt::format(" worker {}", at.worker);
    if (at.lp >= 0) where += fmt::format(" LP {} time {}", at.lp, at.time);
    throw InternalError(fmt::format("check failed: {} ({}:{}){}{}", expression, file, line,
                                    where.empty() ? "" : ", at", where));
}

}  // namespace nw
