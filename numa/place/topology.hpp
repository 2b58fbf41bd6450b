// Where workers can run: the cores of this process's cpuset and their nodes, and the choice of one
// CPU a worker. Asked once, before the workers start; read-only then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"

namespace nw {

// Where one worker runs. `node` has memory: where the CPU's own has none, it is the nearest one that
// has, for that is where the kernel puts what the worker touches first.
struct Place {
    int cpu = 0;
    NodeId node{0};
    friend bool operator==(const Place&, const Place&) = default;
};

// A node as a user wants to see it.
struct NodeInfo {
    NodeId node{0};
    std::vector<int> cpus;          // that this process may use; none: no worker is placed here
    std::size_t cores = 0;          // that these CPUs belong to
    std::uint64_t total_bytes = 0;  // 0: a node without memory
    std::uint64_t free_bytes = 0;   // when this was asked
    std::vector<int> distances;     // to each node of the same table; 10: itself, 0: unknown
};

class Topology {
  public:
    explicit Topology(Os& os);

    // Physical cores, nodes that workers can be placed on, and CPUs, all inside the cpuset; each ≥ 1.
    std::size_t core_count() const noexcept { return core_count_; }
    std::size_t node_count() const noexcept { return worker_nodes_.size(); }
    std::size_t cpu_count() const noexcept { return order_.size(); }

    // Every node that has memory or CPUs for this process, ordered by number.
    const std::vector<NodeInfo>& nodes() const noexcept { return nodes_; }

    // One place a worker. Nodes get numbers of workers that differ by at most one, as long as
    // their cores last; a core gets its second worker only when every core has one. Workers of
    // one node have consecutive numbers, so that neighbours in number are neighbours in memory.
    std::vector<Place> place_workers(std::size_t workers) const;
    // Places for the same workers where these are no longer all to be had, or others have come: who can
    // stays, and the others go where the fewest are, on their own node if that is one of these. Who stays
    // moves only where a CPU has two workers more than another.
    std::vector<Place> place_again(std::vector<Place> places) const;
    // The places of a node, in the order in which they are given out.
    std::vector<Place> places_on(NodeId node) const;

  private:
    void describe_nodes(Os& os, const std::vector<Cpu>& cpus);
    NodeId memory_of(NodeId node) const;
    void order_cpus(const std::vector<Cpu>& cpus);

    std::vector<NodeInfo> nodes_;
    std::vector<Place> order_;  // the CPUs in the order in which they are given out
    std::vector<NodeId> worker_nodes_;
    std::size_t core_count_ = 0;
};

// How many different nodes these places are on.
std::size_t nodes_spanned(const std::vector<Place>& places);

}  // namespace nw
