// The report on the terminal: what a person wants to know of a run, at a glance.
#pragma once

#include <string>

#include "results/run_facts.hpp"

namespace nw {

// About twenty lines. With --verbose also every worker and every counter.
std::string report_text(const RunFacts& facts);

}  // namespace nw
