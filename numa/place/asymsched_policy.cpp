// SPDX-License-Identifier: Apache-2.0
// `--place asymsched`: workers run on the nodes whose links serve the run's traffic best, according
// to AsymSched (decide/asymsched.hpp). If a run uses all nodes, its parts are assigned to nodes so
// that the heaviest traffic has the fastest links (decide/heaviest_links.hpp). Pages are local, and
// follow their workers.
//
// The paper uses hardware counters. They do not show traffic between CPUs, so this policy uses the
// engine's count of every byte of mail instead. Migrations may take at most 5 % of the run's time.
// Their cost is estimated with the paper's 0.3 s per gigabyte until a migration of this run has
// been measured.
//
// Nodes whose CPUs are used by other programs are avoided. Only one run of a machine moves its
// workers at a time, and then no other run moves for a period. So runs that begin together do not
// choose the same nodes.
#include <algorithm>
#include <cerrno>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "numa/decide/asymsched.hpp"
#include "numa/decide/heaviest_links.hpp"
#include "numa/measure/known_machine.hpp"
#include "numa/place/placement_policy.hpp"

namespace nw {
namespace {

constexpr double patience_seconds = 2;   // before slow pages are fetched
constexpr double still_elsewhere = 0.9;  // pages are slow if more than this share is remote
constexpr double arrived = 0.1;          // the move is done if at most this share is remote
// A migration ends at the latest after this time. Until then, pagemigd with its default period of
// one second has tried to move all pages thirty times.
constexpr double give_up_seconds = 30;
// The workers of a run that uses all nodes are moved only if this reduces the load of the heaviest
// link to at most this share of its present load.
constexpr double load_worth_moving_for = 0.9;
// From this share of a period on, another program uses a CPU. A program that competes with a worker
// for a CPU gets half of it.
constexpr double used_by_another = 0.4;
// A migration of fewer bytes does not change the estimated cost per gigabyte.
constexpr std::uint64_t bytes_to_measure = std::uint64_t{1} << 24;

using Rows = std::vector<std::vector<double>>;

// The placement that a decision returns. Nodes are indices into the list of candidates.
struct Plan {
    std::vector<std::size_t> to;  // to[i]: the new node of used node i
    std::uint64_t bytes = 0;
    std::string worth;  // the gain, as text for the report
};

class AsymPolicy final : public PlacementPolicy {
  public:
    AsymPolicy(Os& os, const PolicyInputs& inputs)
        : os_(os),
          topology_(os),
          machine_(known_machine(os, inputs.machine_file)),
          places_(inputs.places) {}
    ~AsymPolicy() override { os_.end_turn(); }

    NodeId node_of(const void*, NodeId home) const noexcept override { return home; }

    // With one node there is no choice.
    bool moves_pages() const noexcept override { return machine_.nodes.size() > 1; }
    bool moves_workers() const noexcept override { return moves_pages(); }
    bool wants_homes() const noexcept override { return moves_pages(); }
    double period_seconds() const noexcept override { return moves_pages() ? 1 : 0; }

    void on_cpus(const Topology& topology, const std::vector<Place>& places) override {
        topology_ = topology;
        places_ = places;
        is_cut_short_ = true;
        moves_.push_back(fmt::format("CPUs were taken away or returned: workers on nodes {}",
                                     fmt::join(numbers_of(places_), " ")));
    }

    PlacementOrders on_period(const PlacementPeriod& period) override {
        ++periods_;
        os_.end_turn();
        budget_.elapsed_seconds = period.seconds;
        if (moved_at_ >= 0 && !has_settled(period)) return fetch_if_slow(period);
        if (period.homes.empty()) {
            // If the kernel does not permit queries, it does not permit moving pages either, and
            // the pages of moved workers would stay remote.
            stays_ = "workers stay: the kernel does not report the nodes of pages";
            return {};
        }
        const std::vector<NodeId> candidates = nodes_for_workers(period.others);
        const std::vector<std::size_t> used = used_nodes(candidates);
        if (candidates.size() < 2 || candidates.size() < used.size() + crowded_.size()) {
            stays_ = taken_.empty() ? "no choice: fewer than two nodes have enough CPUs of this "
                                      "process for these workers"
                                    : "no choice";
            return {};
        }
        if (used.empty()) return {};
        const Plan plan = decide(candidates, used, period);
        if (plan.to == used && workers_beside_others(period.others) == 0) {
            stays_ = plan.worth;
            put_off_at_ = -1;
            return {};
        }
        if (!budget_.allows(plan.bytes)) {
            if (put_off_at_ < 0) put_off_at_ = period.seconds;
            stays_ = fmt::format(
                "{}; workers stay: {:.2f} GB would take {:.2f} s; the limit is {:.0f} % of {:.1f} "
                "s, of which {:.2f} s are used",
                plan.worth, static_cast<double>(plan.bytes) / 1e9, budget_.cost_seconds(plan.bytes),
                100 * MigrationBudget::share, budget_.elapsed_seconds, budget_.migrated_seconds);
            return {};
        }
        if (os_.take_turn() == EBUSY) {
            stays_ = "workers stay: another run of this machine moves its workers now";
            return {};
        }
        move(candidates, used, plan, period);
        return {.move_workers = true, .fetch = false};
    }

    std::vector<Place> worker_places() const override { return places_; }

    std::string report() const override {
        std::string text;
        for (const std::string& move : moves_) text += move + "; ";
        if (!stays_.empty()) text += stays_ + "; ";
        if (!taken_.empty())
            text += fmt::format("other programs use nodes {}; ", fmt::join(taken_, " "));
        return text + fmt::format("on nodes {}; traffic by mail, links by {}",
                                  fmt::join(numbers_of(places_), " "), machine_.source);
    }

  private:
    static std::vector<int> numbers_of(const std::vector<Place>& places) {
        std::vector<int> numbers;
        for (const Place& place : places) numbers.push_back(index(place.node));
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        return numbers;
    }

    // Adds the costs since workers were moved. Pages that pagemigd moves at other times, for groups
    // that change their worker and for mail, are not counted.
    void note_costs(const PlacementPeriod& period) {
        const double seconds = period.migration_seconds - seconds_before_;
        const std::uint64_t bytes = period.migrated_bytes - bytes_before_;
        budget_.migrated_seconds += seconds;
        if (bytes >= bytes_to_measure)
            budget_.seconds_per_gb = 1e9 * seconds / static_cast<double>(bytes);
    }

    // The share of remote pages on the nodes to which workers were moved.
    double remote_share(const PlacementPeriod& period) const {
        double bytes = 0, remote = 0;
        for (const auto& [node, home] : period.homes) {
            if (!moved_to_.contains(node)) continue;
            bytes += static_cast<double>(home.bytes);
            remote += static_cast<double>(home.bytes) * home.remote_share;
        }
        return bytes > 0 ? remote / bytes : 0;
    }

    // Whether the last migration has ended: enough pages have arrived, the CPUs have changed, or
    // give_up_seconds have passed.
    bool has_settled(const PlacementPeriod& period) {
        const bool settled = is_cut_short_ || remote_share(period) <= arrived ||
                             period.seconds - moved_at_ >= give_up_seconds;
        if (settled) {
            note_costs(period);
            moved_at_ = -1;
        }
        return settled;
    }

    PlacementOrders fetch_if_slow(const PlacementPeriod& period) {
        if (fetched_ || period.seconds - moved_at_ < patience_seconds ||
            remote_share(period) <= still_elsewhere)
            return {};
        fetched_ = true;
        moves_.back() += ", pages fetched at a pause";
        return {.move_workers = false, .fetch = true};
    }

    static bool is_free(int cpu, const std::map<int, double>& others) {
        const auto found = others.find(cpu);
        return found == others.end() || found->second < used_by_another;
    }

    // The number of workers whose CPU another program uses.
    std::size_t workers_beside_others(const std::map<int, double>& others) const {
        return static_cast<std::size_t>(
            std::count_if(places_.begin(), places_.end(),
                          [&](const Place& place) { return !is_free(place.cpu, others); }));
    }

    // Returns the nodes with memory that have enough CPUs for the workers of any node: at least as
    // many CPUs as the fullest node has workers now. If other programs use too many of these CPUs,
    // the node is returned only if workers are there now; it is then also in crowded_.
    std::vector<NodeId> nodes_for_workers(const std::map<int, double>& others) {
        std::map<NodeId, std::size_t> workers;
        for (const Place& place : places_) ++workers[place.node];
        std::size_t most = 0;
        for (const auto& [node, count] : workers) most = std::max(most, count);
        places_of_.clear();
        crowded_.clear();
        taken_.clear();
        std::vector<NodeId> nodes;
        for (const NodeId node : machine_.nodes) {
            std::vector<Place>& places = places_of_[node] = topology_.places_on(node);
            if (places.size() < most) continue;
            std::erase_if(places, [&](const Place& place) { return !is_free(place.cpu, others); });
            const bool is_taken = places.size() < most;
            const bool is_used = workers.contains(node);
            if (is_taken) taken_.push_back(index(node));
            if (is_taken && is_used) crowded_.push_back(node);
            if (!is_taken || is_used) nodes.push_back(node);
        }
        return nodes;
    }

    // Returns the nodes of the workers, as indices of candidates. The result is empty if a worker
    // is on a node that is not a candidate.
    std::vector<std::size_t> used_nodes(const std::vector<NodeId>& candidates) const {
        std::vector<std::size_t> used;
        for (const int number : numbers_of(places_)) {
            const auto found = std::find(candidates.begin(), candidates.end(), NodeId{number});
            if (found == candidates.end()) return {};
            used.push_back(static_cast<std::size_t>(found - candidates.begin()));
        }
        return used;
    }

    BandwidthMatrix links_between(const std::vector<NodeId>& candidates) const {
        const auto row_of = [&](NodeId node) {
            return static_cast<std::size_t>(
                std::find(machine_.nodes.begin(), machine_.nodes.end(), node) -
                machine_.nodes.begin());
        };
        Rows rows;
        for (const NodeId cpu : candidates) {
            std::vector<double>& row = rows.emplace_back();
            for (const NodeId memory : candidates)
                row.push_back(machine_.bandwidth.at(row_of(cpu), row_of(memory)));
        }
        return BandwidthMatrix(rows);
    }

    Plan decide(const std::vector<NodeId>& candidates, const std::vector<std::size_t>& used,
                const PlacementPeriod& period) const {
        const auto place_of = [&](NodeId node) {
            return static_cast<std::size_t>(std::find(candidates.begin(), candidates.end(), node) -
                                            candidates.begin());
        };
        const std::size_t nodes = candidates.size();
        Rows traffic(nodes, std::vector<double>(nodes));
        for (std::size_t a = 0; a < places_.size(); ++a)
            for (std::size_t b = 0; b < places_.size(); ++b)
                traffic[place_of(places_[a].node)][place_of(places_[b].node)] +=
                    period.traffic[a][b];
        std::vector<std::uint64_t> bytes(nodes);
        for (const auto& [node, home] : period.homes)
            if (place_of(node) < nodes) bytes[place_of(node)] = home.bytes;
        const BandwidthMatrix links = links_between(candidates);
        NodeSet avoided = 0;
        for (const NodeId node : crowded_) avoided |= NodeSet{1} << place_of(node);
        return used.size() == nodes ? fill_links(links, traffic, bytes, used)
                                    : choose_nodes(links, traffic, bytes, used, avoided);
    }

    static Plan choose_nodes(const BandwidthMatrix& links, const Rows& traffic,
                             const std::vector<std::uint64_t>& bytes,
                             const std::vector<std::size_t>& used, NodeSet avoided) {
        NodeSet set = 0;
        for (const std::size_t node : used) set |= NodeSet{1} << node;
        const std::vector<Cluster> clusters = make_clusters(traffic, bytes, set);
        const AsymPlacement chosen = choose_placement(links, clusters, avoided);
        Plan plan{used, chosen.bytes,
                  fmt::format("P {:.0f} of {:.0f}", chosen.score, chosen.best_score)};
        for (std::size_t c = 0; c < clusters.size(); ++c)
            for (std::size_t k = 0; k < clusters[c].nodes.size(); ++k)
                *std::find(plan.to.begin(), plan.to.end(), clusters[c].nodes[k]) =
                    encode(chosen.map[c][k]);
        for (std::size_t& node : plan.to) node = decode(node);
        return plan;
    }
    // encode() marks a node as new while the list contains old and new nodes; decode() removes the
    // mark.
    static std::size_t encode(std::size_t node) { return node + decision_nodes_max; }
    static std::size_t decode(std::size_t node) { return node % decision_nodes_max; }

    static Plan fill_links(const BandwidthMatrix& links, const Rows& traffic,
                           const std::vector<std::uint64_t>& bytes,
                           const std::vector<std::size_t>& used) {
        Plan plan{place_parts(links, traffic, used), 0, ""};
        const LinkLoad now = link_load(links, traffic, used);
        const LinkLoad then = link_load(links, traffic, plan.to);
        plan.worth = fmt::format("heaviest link {:.2f} of {:.2f}", then.largest, now.largest);
        if (!(then.largest <= now.largest * load_worth_moving_for)) plan.to = used;
        for (std::size_t i = 0; i < used.size(); ++i)
            if (plan.to[i] != used[i]) plan.bytes += bytes[used[i]];
        return plan;
    }

    void move(const std::vector<NodeId>& candidates, const std::vector<std::size_t>& used,
              const Plan& plan, const PlacementPeriod& period) {
        std::map<NodeId, NodeId> to;
        for (std::size_t i = 0; i < used.size(); ++i)
            to[candidates[used[i]]] = candidates[plan.to[i]];
        const std::vector<int> before = numbers_of(places_);
        const std::size_t beside_others = workers_beside_others(period.others);
        const auto stays = [&](const Place& place) {
            return to.at(place.node) == place.node && is_free(place.cpu, period.others);
        };
        std::set<int> given;
        for (const Place& place : places_)
            if (stays(place)) given.insert(place.cpu);
        moved_to_.clear();
        for (Place& place : places_) {
            if (stays(place)) continue;
            const NodeId node = to.at(place.node);
            if (node != place.node) moved_to_.insert(node);
            const std::vector<Place>& places = places_of_[node];
            place = *std::find_if(places.begin(), places.end(),
                                  [&](const Place& free) { return given.insert(free.cpu).second; });
        }
        moves_.push_back(fmt::format("at {:.1f} s, period {}, from nodes {} to {}, {:.2f} GB, {}",
                                     period.seconds, periods_, fmt::join(before, " "),
                                     fmt::join(numbers_of(places_), " "),
                                     static_cast<double>(plan.bytes) / 1e9, plan.worth));
        if (beside_others > 0)
            moves_.back() +=
                fmt::format(", {} workers shared their CPUs with other programs", beside_others);
        if (put_off_at_ >= 0)
            moves_.back() += fmt::format(", postponed by {:.1f} s because of the cost",
                                         period.seconds - put_off_at_);
        put_off_at_ = -1;
        stays_.clear();
        moved_at_ = period.seconds;
        seconds_before_ = period.migration_seconds;
        bytes_before_ = period.migrated_bytes;
        fetched_ = is_cut_short_ = false;
    }

    Os& os_;
    Topology topology_;
    const KnownMachine machine_;
    std::vector<Place> places_;  // by worker
    // Places by node that other programs do not use, for the workers that move there.
    std::map<NodeId, std::vector<Place>> places_of_;
    // Nodes with too few such places: the nodes of workers, and the numbers of all of them.
    std::vector<NodeId> crowded_;
    std::vector<int> taken_;
    std::uint64_t periods_ = 0;  // so far
    MigrationBudget budget_;
    double seconds_before_ = 0;  // migration_seconds at the last move
    // migrated_bytes at the last move.
    std::uint64_t bytes_before_ = 0;
    std::set<NodeId> moved_to_;
    double moved_at_ = -1;    // seconds; < 0: no migration is in progress
    double put_off_at_ = -1;  // seconds; < 0: no migration is postponed
    bool fetched_ = false;
    bool is_cut_short_ = false;       // by a change of the CPUs
    std::vector<std::string> moves_;  // the decisions that were carried out, as text
    std::string stays_;               // the reason why the last decision changed nothing
};

}  // namespace

const PlacementChoice asymsched_placement{
    .word = "asymsched",
    .help = "local, and the workers run on the nodes whose links serve their traffic best",
    .make = make_policy<AsymPolicy>,
    .reads_machine = true,
    .moves_workers = true};

}  // namespace nw
