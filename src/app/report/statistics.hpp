// SPDX-License-Identifier: Apache-2.0
// The statistics as one JSON object (--stats), and the page about them in docs/reference. They
// consist of the figures of a result (results/statistics/run_result.hpp) and of values that are
// computed from these figures and from the options.
#pragma once

#include <string>

#include "app/report/run_facts.hpp"

namespace nw {

std::string statistics_json(const RunFacts& facts);

// Generates docs/reference/statistics.md.
std::string statistics_reference();

}  // namespace nw
