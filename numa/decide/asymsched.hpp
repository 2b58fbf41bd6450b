// SPDX-License-Identifier: Apache-2.0
// The decision of AsymSched: on which nodes clusters of threads should run, if the links between
// nodes differ ("Thread and Memory Placement on NUMA Systems: Asymmetry Matters", Lepers, Quéma,
// Fedorova, USENIX ATC 2015).
//
// A placement assigns a set of nodes to each cluster. The set has as many nodes as the cluster's
// present set, and no node is in two sets. The score of a placement is P = Σ ln(1 + remote
// accesses) × bandwidth within the cluster's nodes. Placements with at least 0.9 of the best P are
// admissible. The search returns the admissible placement that moves the fewest bytes. If several
// placements move the same number of bytes, it returns the placement with the highest P; if several
// of these have the same P, the placement with the smallest node numbers.
//
// The paper tries all placements that are neither "obviously bad" nor symmetric to another one.
// This implementation does not search for symmetry. Instead, it first computes an upper bound for
// each set of free nodes: the highest score that the remaining clusters can reach on this set. On
// 16 nodes there are 65,536 such sets, but 10^10 possible placements. The search skips every branch
// that cannot be admissible according to the bound, or that moves more bytes than the best result
// so far. The result is the same as after trying all placements, unless the search reaches its
// limit.
//
// Pure functions. Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "numa/decide/bandwidth_matrix.hpp"

namespace nw {

// Threads that share data, with their memory.
struct Cluster {
    std::vector<std::size_t> nodes;    // no node twice
    std::vector<std::uint64_t> bytes;  // bytes[i] on nodes[i]
    double remote_accesses = 0;        // between nodes of this cluster
};

// map[i][k]: the new node of node k of cluster i.
using NodeMap = std::vector<std::vector<std::size_t>>;

struct AsymPlacement {
    std::uint64_t placements = 0;  // number of possible placements
    // The number of admissible placements; none: too many to count.
    std::optional<std::uint64_t> admissible;
    NodeMap map;
    std::uint64_t bytes = 0;  // bytes that move
    double score = 0;         // P
    double best_score = 0;
    bool is_proved = true;  // false: the search reached its limit; this is the best placement found

    bool moves_anything(const std::vector<Cluster>& clusters) const;
};

inline constexpr double admissible_share = 0.9;

// `avoided`: nodes that no placement may use, also if clusters use them now. Requires: clusters
// share no node, every node is a node of the machine, and the other nodes are enough for all
// clusters.
AsymPlacement choose_placement(const BandwidthMatrix& machine, const std::vector<Cluster>& clusters,
                               NodeSet avoided = 0);

// The time that may be spent on page migration.
struct MigrationBudget {
    static constexpr double share = 0.05;  // of the elapsed time
    static constexpr double paper_seconds_per_gb = 0.3;

    double elapsed_seconds = 0;
    double migrated_seconds = 0;  // spent so far
    double seconds_per_gb = paper_seconds_per_gb;

    double cost_seconds(std::uint64_t bytes) const noexcept {
        return seconds_per_gb * static_cast<double>(bytes) / 1e9;
    }
    bool allows(std::uint64_t bytes) const noexcept {
        return migrated_seconds + cost_seconds(bytes) <= share * elapsed_seconds;
    }
};

// Two nodes belong to one cluster if there is enough traffic between them (the sum of both
// directions): at least this share of the traffic of one of the two nodes with all other nodes.
inline constexpr double shares_data_from = 0.1;

// Forms clusters of the nodes that have threads. traffic[a][b]: bytes that threads on node a have
// sent to threads on node b in a period. bytes[a]: memory of the threads on node a. `used`: the
// nodes that have threads. Each cache line of mail counts as one remote access.
std::vector<Cluster> make_clusters(const std::vector<std::vector<double>>& traffic,
                                   const std::vector<std::uint64_t>& bytes, NodeSet used);

}  // namespace nw
