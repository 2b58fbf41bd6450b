// SPDX-License-Identifier: Apache-2.0
// Generates docs/reference/options.md from the option table.
#pragma once

#include <string>

namespace nw {

std::string options_reference();

}  // namespace nw
