// SPDX-License-Identifier: Apache-2.0
// The interface of all policies for the placement of pages and workers. A policy decides where new
// pages should be allocated, where a page of a group should be now, and on which nodes workers
// should run. Once per period, the engine passes figures of the run to the policy
// (PlacementPeriod). The kernel carries out the decisions about new pages. pagemigd carries out the
// decisions about all other pages (migration_share.hpp). Each worker changes its own CPU and the
// homes of its groups.
//
// The default policy, local, is the policy of "NUMA Time Warp" (Pellegrini and Quaglia, PADS 2015):
// a page is allocated on the node of the worker that touches it first, and follows its group to the
// node of a new worker. A new policy is a file with a PlacementChoice, and an entry in
// placement_choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/decide/page_map.hpp"
#include "numa/os/os.hpp"
#include "numa/place/memory_options.hpp"
#include "numa/place/topology.hpp"

namespace nw {

// The memory of the groups whose workers run on one node.
struct HomeMemory {
    std::uint64_t bytes = 0;  // resident, estimated from a sample
    double remote_share = 0;  // the share of `bytes` that is on another node
};

// The report to a policy about one period.
struct PlacementPeriod {
    double seconds = 0;                  // from the start of the event loop to the period's end
    std::uint64_t committed_events = 0;  // in the period, on all ranks
    double cpu_seconds = 0;              // of this process, in the period
    // MB/s that workers of this process read from memory because of cache misses; none: the machine
    // does not count cache misses.
    std::optional<double> missed_mb_s;
    // The following values are for the ranks for which the policy decides.
    std::vector<std::vector<double>> traffic;  // bytes of mail in the period, [from worker][to]
    std::map<NodeId, HomeMemory> homes;        // at the period's end
    std::uint64_t migrated_bytes = 0;  // so far, by pagemigd and by workers that fetched pages
    double migration_seconds = 0;      // CPU time for migrated_bytes
    // By CPU of this machine: the share of the period in which other programs used the CPU. Empty:
    // unknown, or the workers are not bound to CPUs.
    std::map<int, double> others;
    bool has_caught_up = true;  // whether pagemigd has moved all pages as node_of() requires
};

// Orders to the workers.
struct PlacementOrders {
    bool move_workers = false;  // each worker moves to its place in worker_places()
    bool fetch = false;         // each worker moves the pages of its groups itself
};

class PlacementPolicy {
  public:
    virtual ~PlacementPolicy() = default;

    // --- queries ---

    // The node where `page` should be now, if the worker of its group runs on `home`. Thread: any.
    virtual NodeId node_of(const void* page, NodeId home) const noexcept = 0;
    // Whether pages should be on nodes other than the nodes of their workers. If so, pagemigd
    // checks all pages, also if no move was requested. Thread: any.
    virtual bool spreads() const noexcept { return false; }
    // Whether pages may have to move although no group changes its worker.
    virtual bool moves_pages() const noexcept { return spreads(); }
    // How often the results of node_of() have changed. Thread: any.
    virtual std::uint32_t changes() const noexcept { return 0; }
    // Sets a policy of the kernel for new pages of [address, address + bytes), if they should not
    // be placed by first touch. Returns the kernel's status. Thread: before the workers start.
    virtual Status post_for_new_pages(Os&, void*, std::size_t) { return 0; }

    // --- reports; Thread: one for all following functions ---

    // Called when the CPUs of the process have changed, and workers have been moved to these
    // places.
    virtual void on_cpus(const Topology&, const std::vector<Place>&) {}
    // The length of a period; 0: the policy needs no periods.
    virtual double period_seconds() const noexcept { return 0; }
    // Whether the policy chooses CPUs for workers. Such a policy needs PlacementPeriod::others.
    virtual bool moves_workers() const noexcept { return false; }
    // wants_homes(): whether the policy needs PlacementPeriod::homes, which requires a query of the
    // pages. wants_misses(): whether the policy needs missed_mb_s, which requires a counter for
    // each worker. wants_misses() is called before the workers start.
    virtual bool wants_homes() const noexcept { return false; }
    virtual bool wants_misses() const noexcept { return false; }
    virtual PlacementOrders on_period(const PlacementPeriod&) { return {}; }
    // The places by worker, for all ranks for which the policy decides. Valid after on_period() has
    // ordered `move_workers`.
    virtual std::vector<Place> worker_places() const { return {}; }

    // Returns a text for users about the decisions of the policy and their reasons; empty if there
    // is nothing to report.
    virtual std::string report() const { return ""; }
};

// First touch; pages follow their worker.
class LocalPolicy final : public PlacementPolicy {
  public:
    LocalPolicy() = default;
    LocalPolicy(Os&, const PolicyInputs&) {}
    NodeId node_of(const void*, NodeId home) const noexcept override { return home; }
};

struct PolicyInputs {
    std::string machine_file = {};         // --machine
    std::optional<double> proximity = {};  // --proximity; none: the policy searches for it
    HugePages huge_pages = HugePages::automatic;
    std::vector<Place> places = {};  // by worker, for all ranks for which the policy decides
    SlotGrid slots = {};             // of the region
};

extern const PlacementChoice strict_placement, interleave_placement, weighted_placement,
    asymsched_placement, auto_placement;

// The usual PlacementChoice::make.
template <class Policy>
std::unique_ptr<PlacementPolicy> make_policy(Os& os, const PolicyInputs& inputs) {
    return std::make_unique<Policy>(os, inputs);
}

// Makes the policy. Throws SetupError if the machine file is not valid, or if the policy needs the
// bandwidths between more nodes than decision_nodes_max.
std::unique_ptr<PlacementPolicy> make_chosen_policy(const PlacementChoice& choice, Os& os,
                                                    const PolicyInputs& inputs);

// All values of --place.
inline constexpr const PlacementChoice* placement_choices[] = {
    &local_placement,    &strict_placement,    &interleave_placement,
    &weighted_placement, &asymsched_placement, &auto_placement};

}  // namespace nw
