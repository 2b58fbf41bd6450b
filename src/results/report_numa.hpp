// The report's part on nodes: what the machine has, where the pages were, what was moved. Each is
// whole lines, or empty where there is nothing to say.
#pragma once

#include <string>

#include "results/run_facts.hpp"

namespace nw {

// A line a node: cores, workers, memory, distances. On one node only with --verbose.
std::string topology_table(const RunFacts& facts);

// A line a node: MiB of each kind there; and how much of each is not where its worker runs. On one
// node it would say nothing.
std::string placement_table(const RunFacts& facts);

// The texts of single lines of the report.
std::string placement_line(const RunFacts& facts);  // "99.8 % local"
std::string placed_line(const RunFacts& facts);     // empty: --place local
std::string pagemigd_line(const RunFacts& facts);   // empty: it had nothing to move
std::string rebinding_line(const RunFacts& facts);  // empty: nothing changed its worker
std::string memory_kinds_line(const RunFacts& facts);

}  // namespace nw
