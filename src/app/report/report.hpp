// SPDX-License-Identifier: Apache-2.0
// The report on the terminal: the most important facts about a run.
#pragma once

#include <string>

#include "app/report/run_facts.hpp"

namespace nw {

// About twenty lines; with --verbose also every worker and every counter.
std::string report_text(const RunFacts& facts);

}  // namespace nw
