// Which nodes clusters of threads should be on, where links between nodes differ: the decision of
// AsymSched ("Thread and Memory Placement on NUMA Systems: Asymmetry Matters", Lepers, Quéma, Fedorova,
// USENIX ATC 2015). A placement gives each cluster a set of nodes of its own, of as many nodes as it is
// on. It is worth P = Σ ln(1 + remote accesses) × bandwidth within the cluster's nodes. Of the
// placements that are worth at least 0.9 of the best one, that is chosen which moves the fewest bytes;
// then the one with the highest P, then that of the smaller node numbers.
//
// The paper tries all placements that are not "obviously bad" and not another one by symmetry. Here no
// symmetry is looked for: what the rest of the clusters can get at most from each set of free nodes is
// worked out first, once for each set (65,536 on 16 nodes, where there may be 10^10 placements), and
// the search leaves what that shows to be bad, or to move more than is known to be enough. The result
// is that of trying all.
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
    std::vector<std::size_t> nodes;    // each once
    std::vector<std::uint64_t> bytes;  // on each of these
    double remote_accesses = 0;        // between them
};

// For each cluster, the new node of each old one.
using NodeMap = std::vector<std::vector<std::size_t>>;

struct AsymPlacement {
    std::uint64_t placements = 0;             // that there are
    std::optional<std::uint64_t> admissible;  // of these; none: too many to be counted
    NodeMap map;
    std::uint64_t bytes = 0;  // that move
    double score = 0;         // P
    double best_score = 0;
    bool is_proved = true;  // false: the search was cut short, and this is the best it has met

    bool moves_anything(const std::vector<Cluster>& clusters) const;
};

inline constexpr double admissible_share = 0.9;

// Requires: clusters share no node, all of them nodes of the machine.
AsymPlacement choose_placement(const BandwidthMatrix& machine,
                               const std::vector<Cluster>& clusters);

// What may be spent on migration.
struct MigrationBudget {
    static constexpr double share = 0.05;  // of the time run so far
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

// Nodes with threads on them, in clusters: two nodes belong to one if what goes between them, both
// ways, is at least this share of all that one of the two sends to and gets from other nodes.
inline constexpr double shares_data_from = 0.1;

// traffic[a][b]: bytes sent from threads on node a to threads on node b in a period; bytes: the memory
// of each node's threads. Nodes are `used` or have no thread. A remote access is a cache line of mail.
std::vector<Cluster> make_clusters(const std::vector<std::vector<double>>& traffic,
                                   const std::vector<std::uint64_t>& bytes, NodeSet used);

}  // namespace nw
