// Where workers can run: the cores of this process's cpuset and their nodes, and the choice of one
// CPU a worker. Asked once, before the workers start.
#pragma once

#include <cstddef>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/os.hpp"

namespace nw {

// Where one worker runs.
struct Place {
    int cpu = 0;
    NodeId node{0};
    friend bool operator==(const Place&, const Place&) = default;
};

class Topology {
  public:
    explicit Topology(Os& os);

    // Physical cores, nodes that have such a core, and CPUs, all inside the cpuset; each ≥ 1.
    std::size_t core_count() const noexcept { return core_count_; }
    std::size_t node_count() const noexcept { return nodes_.size(); }
    std::size_t cpu_count() const noexcept { return order_.size(); }

    // One place a worker. Nodes get numbers of workers that differ by at most one, as long as
    // their cores last; a core gets its second worker only when every core has one. Workers of
    // one node have consecutive numbers, so that neighbours in number are neighbours in memory.
    std::vector<Place> place_workers(std::size_t workers) const;

  private:
    std::vector<Place> order_;  // the CPUs in the order in which they are given out
    std::vector<NodeId> nodes_;
    std::size_t core_count_ = 0;
};

}  // namespace nw
