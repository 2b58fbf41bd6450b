// SPDX-License-Identifier: Apache-2.0
// `--place auto`: `weighted` if the run is limited by memory bandwidth, else `local`. There is a
// choice only if at least one node of the machine has no workers. Otherwise the mode is `local`,
// for example on a machine with one node.
//
// If the machine counts misses of the last-level cache and its bandwidths are known in MB/s, the
// decision compares the misses with the bandwidth of the workers' nodes. Otherwise a trial
// (decide/placement_trial.hpp) measures committed events per second of CPU time. The trial moves
// pages to all nodes, and moves them back unless the run was faster.
#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "numa/decide/placement_trial.hpp"
#include "numa/decide/window_median.hpp"
#include "numa/measure/known_machine.hpp"
#include "numa/place/placement_policy.hpp"

namespace nw {
namespace {

constexpr double window_seconds = 0.25;
// The run is limited by bandwidth if its workers use at least this share of the bandwidth of their
// nodes.
constexpr double limited_from = 0.5;

class AutoPolicy final : public PlacementPolicy {
  public:
    AutoPolicy(Os& os, const PolicyInputs& inputs)
        : machine_(known_machine(os, inputs.machine_file)),
          weighted_(weighted_placement.make(os, inputs)) {
        look_at(inputs.places);
        wants_misses_ = !is_decided_ && machine_.is_mb_s;
    }

    NodeId node_of(const void* page, NodeId home) const noexcept override {
        return spreads() ? weighted_->node_of(page, home) : home;
    }
    bool spreads() const noexcept override { return spread_.load(std::memory_order_relaxed); }
    bool moves_pages() const noexcept override { return !is_decided_ || spreads(); }
    std::uint32_t changes() const noexcept override {
        return changes_.load(std::memory_order_acquire) +  // pairs with set_spread()
               weighted_->changes();
    }

    double period_seconds() const noexcept override {
        if (!is_decided_) return window_seconds;
        return spreads() ? weighted_->period_seconds() : 0;
    }
    bool wants_misses() const noexcept override { return wants_misses_; }

    // A change of the CPUs restarts an undecided trial, but does not change a decision.
    void on_cpus(const Topology& topology, const std::vector<Place>& places) override {
        weighted_->on_cpus(topology, places);
        if (is_decided_) return;
        start_again();
        look_at(places);
    }

    PlacementOrders on_period(const PlacementPeriod& period) override {
        if (is_decided_) return weighted_->on_period(period);
        if (!period.has_caught_up || period.cpu_seconds <= 0) return {};
        const bool by_misses = period.missed_mb_s && wants_misses_;
        if (by_misses != std::exchange(by_misses_, by_misses)) {
            // Misses are meaningful only while pages are local, and a trial begins with local
            // pages.
            const bool was_spread = spreads();
            start_again();
            if (was_spread) return {};
        }
        if (by_misses)
            decide_by_misses(*period.missed_mb_s);
        else
            decide_by_trial(static_cast<double>(period.committed_events) / period.cpu_seconds);
        return {};
    }

    std::string report() const override {
        if (!is_decided_)
            return fmt::format("{}; the trial has not ended",
                               spreads() ? "pages on all nodes" : "local");
        return spreads() ? fmt::format("weighted: {}; {}", why_, weighted_->report())
                         : fmt::format("local: {}", why_);
    }

  private:
    // A node reads its own memory at least as fast as memory over its fastest link. This bound is
    // used if the table has no value for the node itself.
    double own_mb_s(std::size_t node) const {
        double mb_s = machine_.bandwidth.at(node, node);
        for (std::size_t m = 0; mb_s == 0 && m < machine_.nodes.size(); ++m)
            mb_s = std::max(mb_s, machine_.bandwidth.at(node, m));
        return mb_s;
    }

    void look_at(const std::vector<Place>& places) {
        std::set<NodeId> used;
        for (const Place& place : places) used.insert(place.node);
        worker_mb_s_ = 0;
        for (std::size_t i = 0; i < machine_.nodes.size(); ++i)
            if (used.contains(machine_.nodes[i])) worker_mb_s_ += own_mb_s(i);
        if (used.size() >= machine_.nodes.size())
            why_ = machine_.nodes.size() < 2 ? "there is one node" : "workers have all nodes";
        is_decided_ = !why_.empty();
    }

    void start_again() {
        missed_ = {};
        trial_ = {};
        if (spreads()) set_spread(false);
    }

    void decide_by_misses(double missed_mb_s) {
        const std::optional<double> median = missed_.feed(missed_mb_s);
        if (!median) return;
        is_decided_ = true;
        why_ = fmt::format(
            "misses of the last-level cache read {:.2f} of the {:.2f} GB/s that the workers' nodes "
            "provide",
            *median / 1e3, worker_mb_s_ / 1e3);
        if (*median >= limited_from * worker_mb_s_) set_spread(true);
    }

    void decide_by_trial(double speed) {
        if (trial_.feed(speed)) set_spread(trial_.side() == PlacementTrial::Side::spread);
        if (!trial_.is_done()) return;
        is_decided_ = true;
        why_ = fmt::format(
            "with weighted pages on all nodes, {:.3f} times as many events were committed per "
            "second of CPU time",
            trial_.ratio());
    }

    void set_spread(bool spread) {
        spread_.store(spread, std::memory_order_relaxed);
        changes_.fetch_add(1, std::memory_order_release);  // pairs with changes()
    }

    const KnownMachine machine_;
    const std::unique_ptr<PlacementPolicy> weighted_;
    double worker_mb_s_ = 0;
    WindowMedian missed_;
    PlacementTrial trial_;
    bool wants_misses_ = false;
    bool by_misses_ = false;  // the last window had a count of misses
    bool is_decided_ = false;
    std::string why_;
    std::atomic<bool> spread_{false};
    std::atomic<std::uint32_t> changes_{0};
};

}  // namespace

const PlacementChoice auto_placement{
    .word = "auto",
    .help =
        "weighted if the workers use only some of the nodes and bandwidth limits the run, else "
        "local",
    .make = make_policy<AutoPolicy>,
    .spreads_pages = true,
    .reads_machine = true,
    .one_rank_only = true};

}  // namespace nw
