// SPDX-License-Identifier: Apache-2.0
#include "jobs/research/placement/decide.hpp"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numawarp/model.hpp>

#include "numa/decide/asymsched.hpp"
#include "numa/decide/machine_file.hpp"
#include "numa/decide/page_weights.hpp"

namespace nw {
namespace {

using json = nlohmann::ordered_json;

constexpr double bytes_max = 1e18;

double rounded(double value, double per_unit) { return std::round(value * per_unit) / per_unit; }

// One object of the file, and its position in the file, for error messages.
class Case {
  public:
    Case(const json& value, std::string where) : value_(value), where_(std::move(where)) {
        if (!value.is_object()) fail("", "an object");
    }

    [[noreturn]] void fail(std::string_view name, std::string_view allowed) const {
        throw SetupError(
            fmt::format("{}{}{}: allowed: {}", where_, name.empty() ? "" : ".", name, allowed));
    }

    const json& at(const char* name, std::string_view allowed) const {
        const auto found = value_.find(name);
        if (found == value_.end()) fail(name, allowed);
        return *found;
    }
    double number(const char* name, double most) const {
        const json& value = at(name, "a number");
        const double number = value.is_number() ? value.get<double>() : -1;
        if (!(number >= 0 && number <= most)) fail(name, fmt::format("a number, 0 to {}", most));
        return number;
    }
    const json& array(const char* name) const {
        const json& value = at(name, "an array");
        if (!value.is_array() || value.empty()) fail(name, "a nonempty array");
        return value;
    }
    // Returns the nodes in the array `name`, and adds them to `taken`. Throws SetupError if a node
    // is already in `taken`.
    std::vector<std::size_t> nodes(const char* name, const BandwidthMatrix& machine,
                                   NodeSet& taken) const {
        std::vector<std::size_t> nodes;
        for (const json& value : array(name)) {
            const double node = value.is_number_unsigned() ? value.get<double>() : -1;
            if (!(node >= 0 && node < static_cast<double>(machine.nodes())))
                fail(name, fmt::format("nodes, 0 to {}", machine.nodes() - 1));
            nodes.push_back(static_cast<std::size_t>(node));
            if ((taken >> nodes.back() & 1) != 0) fail(name, "each node at most once per case");
            taken |= NodeSet{1} << nodes.back();
        }
        return nodes;
    }
    std::string where(const char* name, std::size_t i) const {
        return fmt::format("{}.{}[{}]", where_, name, i);
    }
    const std::string& where() const { return where_; }

  private:
    const json& value_;
    const std::string where_;
};

BandwidthMatrix machine_of_case(const Case& a_case, const std::string& machines) {
    const json& machine = a_case.at("machine", "a name, or an object with \"bw\"");
    if (machine.is_string())
        return read_machine_file(machines + '#' + machine.get<std::string>()).bandwidth;
    try {
        return machine_of(nlohmann::json(machine)).bandwidth;
    } catch (const SetupError& error) {
        throw SetupError(fmt::format("{}.machine: {}", a_case.where(), error.what()));
    }
}

Cluster cluster_of(const Case& described, const BandwidthMatrix& machine, NodeSet& taken) {
    Cluster cluster;
    cluster.nodes = described.nodes("nodes", machine, taken);
    cluster.remote_accesses = described.number("remote_accesses", 1e300);
    for (const json& gigabytes : described.array("gigabytes")) {
        const double bytes = gigabytes.is_number() ? gigabytes.get<double>() * 1e9 : -1;
        if (!(bytes >= 0 && bytes <= bytes_max))
            described.fail("gigabytes", "numbers of at least 0");
        cluster.bytes.push_back(static_cast<std::uint64_t>(std::llround(bytes)));
    }
    if (cluster.bytes.size() != cluster.nodes.size())
        described.fail("gigabytes", "as many numbers as there are nodes");
    return cluster;
}

json decision_of(const Case& a_case, const std::string& machines) {
    const BandwidthMatrix machine = machine_of_case(a_case, machines);
    std::vector<Cluster> clusters;
    NodeSet taken = 0;
    for (const json& described : a_case.array("clusters"))
        clusters.push_back(
            cluster_of(Case(described, a_case.where("clusters", clusters.size())), machine, taken));
    const MigrationBudget budget{.elapsed_seconds = a_case.number("elapsed_s", 1e300),
                                 .migrated_seconds = a_case.number("migrated_s", 1e300)};
    const AsymPlacement chosen = choose_placement(machine, clusters);
    return {{"placements", chosen.placements},
            {"admissible", chosen.admissible ? json(*chosen.admissible) : json()},
            {"map", chosen.map},
            {"gigabytes", static_cast<double>(chosen.bytes) / 1e9},
            {"score", rounded(chosen.score, 10)},
            {"best_score", rounded(chosen.best_score, 10)},
            {"cost_s", rounded(budget.cost_seconds(chosen.bytes), 1e6)},
            {"apply", chosen.moves_anything(clusters) && budget.allows(chosen.bytes)}};
}

json percent_of(const Case& a_case, const std::string& machines) {
    const BandwidthMatrix machine = machine_of_case(a_case, machines);
    NodeSet workers = 0;
    a_case.nodes("workers", machine, workers);
    const PageWeights weights =
        weights_at(canonical_weights(machine, workers), workers, a_case.number("dwp", 1));
    json percent = json::array();
    for (const double weight : weights) percent.push_back(rounded(100 * weight, 10));
    return percent;
}

}  // namespace

std::string decide_cases(const std::string& file) {
    json cases = json(read_json(file));
    const std::string machines = (std::filesystem::path(file).parent_path() / "machines.json");
    const auto answer = [&](const char* kind, const char* name, const auto& decide) {
        if (!cases.contains(kind)) return;
        if (!cases[kind].is_array())
            throw SetupError(fmt::format("{}: {}: allowed: an array of cases", file, kind));
        for (std::size_t i = 0; i < cases[kind].size(); ++i) {
            json& one = cases[kind][i];
            const Case described(one, fmt::format("{}: {}[{}]", file, kind, i));
            json decision = decide(described, machines);
            one.erase("expect");
            one[name] = std::move(decision);
        }
    };
    if (!cases.is_object() || (!cases.contains("asymsched") && !cases.contains("bwap")))
        throw SetupError(
            fmt::format("{}: allowed: an object with \"asymsched\" or \"bwap\", or both", file));
    answer("asymsched", "decision", decision_of);
    answer("bwap", "percent", percent_of);
    return cases.dump(1) + '\n';
}

}  // namespace nw
