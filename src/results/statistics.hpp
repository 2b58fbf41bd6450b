// The statistics as one JSON object (--stats), and the page about them in docs/reference: the figures of
// a result as stats/run_result.hpp describes them, and what is made from these and from options.
#pragma once

#include <string>

#include "results/run_facts.hpp"

namespace nw {

std::string statistics_json(const RunFacts& facts);

// docs/reference/statistics.md.
std::string statistics_reference();

}  // namespace nw
