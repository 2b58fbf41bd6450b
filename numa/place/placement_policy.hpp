// Where pages and workers should be: the one seam for all who decide that. A policy is asked where new
// pages go, where a page of a group should be now, and on which nodes workers should be; it is told, once
// a period, what the run did. Who carries out what it says: the kernel for new pages, pagemigd for all
// others (migration_share.hpp), each worker for its own place and the homes of its groups.
//
// The first one is that of "NUMA Time Warp" (Pellegrini and Quaglia, PADS 2015): a page is born on the
// node of the worker that touches it first, and follows its group to that of a new worker. A new one is a
// file and a line in make_policy().
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
#include "numa/place/topology.hpp"
#include "numa/region/memory_options.hpp"

namespace nw {

// Groups whose workers run on one node.
struct HomeMemory {
    std::uint64_t bytes = 0;  // resident, estimated from a sample
    double remote_share = 0;  // of these: on another node
};

// What a policy learns of a period.
struct PlacementPeriod {
    double seconds = 0;                  // since the event loop began, at the period's end
    std::uint64_t committed_events = 0;  // in the period, on all ranks
    double cpu_seconds = 0;              // of this process, in the period
    // Cache lines that workers of this process got from memory in it; none: the machine does not count them.
    std::optional<double> missed_mb_s;
    // Of the ranks that the policy decides for:
    std::vector<std::vector<double>> traffic;  // in it: bytes of mail from worker (row) to worker
    std::map<NodeId, HomeMemory> homes;        // at its end
    std::uint64_t migrated_bytes = 0;          // so far, by pagemigd and by workers that fetched
    double migration_seconds = 0;              // CPU time of that
    bool has_caught_up = true;                 // pagemigd, with all that node_of() says
};

// What workers are to do now.
struct PlacementOrders {
    bool seats = false;  // go where worker_places() says
    bool fetch = false;  // bring their groups' pages there themselves
};

class PlacementPolicy {
  public:
    virtual ~PlacementPolicy() = default;

    // --- asked ---

    // Where a page should be now whose group's worker runs on `home`. Thread: any.
    virtual NodeId node_of(const void* page, NodeId home) const noexcept = 0;
    // Whether pages should be on other nodes than their workers', so that they must be looked for without
    // anybody having asked for a move. Thread: any.
    virtual bool spreads() const noexcept { return false; }
    // Whether pages will have to move although no group changes its worker.
    virtual bool moves_pages() const noexcept { return spreads(); }
    // How often node_of() has changed its mind. Thread: any.
    virtual std::uint32_t changes() const noexcept { return 0; }
    // Whether the kernel is to place new pages of [address, address + bytes) otherwise than by first
    // touch, and its answer. Thread: before the workers start.
    virtual Status post_for_new_pages(Os&, void*, std::size_t) { return 0; }

    // --- told; Thread: one, from here on ---

    // The process may use other CPUs than before, and workers have been put there.
    virtual void on_cpus(const Topology&, const std::vector<Place>&) {}
    // How long a period is; 0: it learns nothing.
    virtual double period_seconds() const noexcept { return 0; }
    // Whether it asks for PlacementPeriod::homes, which takes a look at the pages, and for missed_mb_s, which
    // takes a counter for each worker. The latter is asked before the workers start.
    virtual bool wants_homes() const noexcept { return false; }
    virtual bool wants_misses() const noexcept { return false; }
    virtual PlacementOrders on_period(const PlacementPeriod&) { return {}; }
    // By worker, where on_period() has ordered seats; of all ranks that it decides for.
    virtual std::vector<Place> worker_places() const { return {}; }

    // For people: what it went by and what it did; empty: nothing that a user does not expect.
    virtual std::string report() const { return ""; }
};

// First touch, and pages that follow their worker.
class LocalPolicy final : public PlacementPolicy {
  public:
    NodeId node_of(const void*, NodeId home) const noexcept override { return home; }
};

struct PolicyInputs {
    PlaceMode mode = PlaceMode::local;
    std::string machine_file;              // --machine
    std::optional<double> proximity = {};  // --proximity; none: searched
    HugePages huge_pages = HugePages::automatic;
    std::vector<Place> places;  // by worker; of all ranks that it decides for
    SlotGrid slots;             // of the region
};

// Throws SetupError where the file of a machine is wrong.
std::unique_ptr<PlacementPolicy> make_policy(Os& os, const PolicyInputs& inputs);

}  // namespace nw
