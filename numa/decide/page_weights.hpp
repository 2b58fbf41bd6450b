// Which share of the pages each node should have so that memory is read fastest from all nodes at once:
// "Bandwidth-Aware Page Placement in NUMA Systems" (Gureya et al., IPDPS 2020). The canonical weights
// follow from the machine and from the nodes that have workers; data-to-worker proximity (DWP), between
// 0 and 1, shifts them towards these. At 1 other nodes have nothing.
//
// Pure functions. Thread: any.
#pragma once

#include <vector>

#include "numa/decide/bandwidth_matrix.hpp"

namespace nw {

// By node; their sum is 1.
using PageWeights = std::vector<double>;

// Each node's in proportion to the bandwidth with which the worker that is worst connected to it reads
// from it. Where the bandwidth of a worker's node to its own memory is unknown, the others count; of an
// only worker's node nothing else is known than that it is no slower than its fastest link.
// Requires: at least one worker.
PageWeights canonical_weights(const BandwidthMatrix& machine, NodeSet workers);

// Requires: 0 ≤ dwp ≤ 1.
PageWeights weights_at(const PageWeights& canonical, NodeSet workers, double dwp);

// The workers' nodes together.
double share_of(const PageWeights& weights, NodeSet nodes);

}  // namespace nw
