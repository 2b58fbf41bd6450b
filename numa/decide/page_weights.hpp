// SPDX-License-Identifier: Apache-2.0
// Computes the share of the pages that each node should have, so that it is fastest to read from
// all nodes at the same time. See "Bandwidth-Aware Page Placement in NUMA Systems" (Gureya et al.,
// IPDPS 2020). The canonical weights follow from the machine and from the nodes that have workers.
// Data-to-worker proximity (DWP) is a number from 0 to 1 that shifts weight to the nodes with
// workers. At proximity 1, all other nodes have no pages.
//
// Pure functions. Thread: any.
#pragma once

#include <vector>

#include "numa/decide/bandwidth_matrix.hpp"

namespace nw {

// Weights by node; their sum is 1.
using PageWeights = std::vector<double>;

// The weight of a node is proportional to the lowest bandwidth with which any node with workers
// reads from this node. If the node itself has workers, but the bandwidth to its own memory is
// unknown, only the other nodes with workers count. If there is no other node with workers, the
// bandwidth of the node's fastest link is used, because a node's own memory is at least that fast.
// Requires: at least one worker.
PageWeights canonical_weights(const BandwidthMatrix& machine, NodeSet workers);

// Requires: 0 ≤ dwp ≤ 1.
PageWeights weights_at(const PageWeights& canonical, NodeSet workers, double dwp);

// Sum of the weights of `nodes`.
double share_of(const PageWeights& weights, NodeSet nodes);

}  // namespace nw
