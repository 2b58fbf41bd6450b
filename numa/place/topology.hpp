// SPDX-License-Identifier: Apache-2.0
// The cores on which workers can run (the cores of this process's cpuset), with their nodes, and
// the choice of one CPU per worker. The constructor queries the Os. After that, the object is
// constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os/os.hpp"

namespace nw {

// The CPU and node of one worker. `node` has memory: if the CPU's own node has none, `node` is the
// nearest node with memory, because the kernel allocates the pages that the worker touches first on
// this node.
struct Place {
    int cpu = 0;
    NodeId node{0};
    friend bool operator==(const Place&, const Place&) = default;
};

// The description of a node for users.
struct NodeInfo {
    NodeId node{0};
    std::vector<int> cpus;          // that this process may use; none: no worker is placed here
    std::size_t cores = 0;          // number of cores to which `cpus` belong
    std::uint64_t total_bytes = 0;  // 0: a node without memory
    std::uint64_t free_bytes = 0;   // at construction
    std::vector<int> distances;     // to each node of the same table; 10: itself, 0: unknown
};

class Topology {
  public:
    explicit Topology(Os& os);

    // Numbers of physical cores, of nodes on which workers can be placed, and of CPUs, all inside
    // the cpuset; each ≥ 1.
    std::size_t core_count() const noexcept { return core_count_; }
    std::size_t node_count() const noexcept { return worker_nodes_.size(); }
    std::size_t cpu_count() const noexcept { return order_.size(); }

    // Every node that has memory or CPUs for this process, ordered by number.
    const std::vector<NodeInfo>& nodes() const noexcept { return nodes_; }

    // Returns one place per worker. The numbers of workers per node differ by at most one, as long
    // as the nodes have enough cores. A core gets its second worker only when every core has one.
    // Workers of one node have consecutive numbers, so that workers with neighboring numbers share
    // a node.
    std::vector<Place> place_workers(std::size_t workers) const;
    // Returns places for the same workers after the CPUs of this process have changed. A worker
    // whose CPU is still available keeps its place. The other workers move to the CPUs with the
    // fewest workers, preferably on their own node. A worker that could keep its place is moved
    // only if its CPU has at least two workers more than another CPU.
    std::vector<Place> place_again(std::vector<Place> places) const;
    // The places on a node, in the order in which they are assigned.
    std::vector<Place> places_on(NodeId node) const;

  private:
    void describe_nodes(Os& os, const std::vector<Cpu>& cpus);
    NodeId memory_of(NodeId node) const;
    void order_cpus(const std::vector<Cpu>& cpus);

    std::vector<NodeInfo> nodes_;
    std::vector<Place> order_;  // the CPUs in the order in which they are assigned
    std::vector<NodeId> worker_nodes_;
    std::size_t core_count_ = 0;
};

// The number of different nodes in `places`.
std::size_t nodes_spanned(const std::vector<Place>& places);
// Whether workers of different ranks have the same CPU. `places`: the places of the workers of
// several ranks; each rank has `workers` workers.
bool ranks_share_cpus(const std::vector<Place>& places, std::size_t workers);
// The share of a CPU that each worker has: 1, divided by the number of workers on its CPU.
std::vector<double> shares_of_cpus(const std::vector<Place>& places);

}  // namespace nw
