// The statistics as one JSON object (--stats). Counters come from base/counters.hpp's table, all
// other fields from a table here; docs/reference/statistics.md is made from both.
#pragma once

#include <string>

#include "results/run_facts.hpp"

namespace nw {

std::string statistics_json(const RunFacts& facts);

// docs/reference/statistics.md.
std::string statistics_reference();

}  // namespace nw
