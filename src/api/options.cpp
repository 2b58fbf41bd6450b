// SPDX-License-Identifier: Apache-2.0
#include <numawarp/options.hpp>

#include <fmt/format.h>

#include <numawarp/errors.hpp>

namespace nw {

void require(bool kept, const std::string& option, double value, const std::string& rule) {
    if (!kept) throw SetupError(fmt::format("--{} {}: {}", option, value, rule));
}

}  // namespace nw
