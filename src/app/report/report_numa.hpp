// SPDX-License-Identifier: Apache-2.0
// The part of the report about NUMA nodes: the machine, the placement of pages, the migrations.
// Each function returns whole lines, or an empty text if there is nothing to report.
#pragma once

#include <string>

#include "app/report/run_facts.hpp"

namespace nw {

// One line per node: cores, workers, memory, distances. On a machine with one node, the table is
// empty without --verbose.
std::string topology_table(const RunFacts& facts);

// One line per node: for each kind of pages, the MiB on this node. The last line contains, for each
// kind, the share of the pages that are not on the node of their worker. Empty on a machine with
// one node.
std::string placement_table(const RunFacts& facts);

// Texts for single lines of the report.
std::string placement_line(const RunFacts& facts);  // "99.8 % local"
std::string placed_line(const RunFacts& facts);     // empty with --place local
std::string pagemigd_line(const RunFacts& facts);   // empty if no page was to be moved
std::string rebinding_line(const RunFacts& facts);  // empty if no rebinding took place
std::string memory_kinds_line(const RunFacts& facts);

}  // namespace nw
