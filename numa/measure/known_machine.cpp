// SPDX-License-Identifier: Apache-2.0
#include "numa/measure/known_machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numawarp/model.hpp>

#include "numa/decide/machine_file.hpp"
#include "numa/os/machine.hpp"
#include "util/check.hpp"
#include "util/number_text.hpp"

namespace nw {
namespace {

using json = nlohmann::json;
using Rows = std::vector<std::vector<double>>;

// The assumed bandwidth at distance 10 if no source contains a bandwidth. Only the ratios of such
// values are meaningful.
constexpr double supposed_mb_s = 10'000;
constexpr int local_distance = 10;
constexpr int supposed_distance = 20;  // if the distance is unknown

// Returns the index of the row and column of each node in `wanted`, in a file's table. The result
// is empty if the file does not list all these nodes.
std::vector<std::size_t> places_of(const json& content, const std::vector<NodeId>& wanted) {
    std::vector<std::size_t> places;
    const auto listed = content.find("nodes");
    if (listed == content.end() || !listed->is_array()) return places;
    for (const NodeId node : wanted) {
        const auto found = std::find_if(listed->begin(), listed->end(), [node](const json& one) {
            return one.is_object() && one.value("node", json()) == json(index(node));
        });
        if (found == listed->end()) return {};
        places.push_back(static_cast<std::size_t>(found - listed->begin()));
    }
    return places;
}

BandwidthMatrix part_of(const BandwidthMatrix& whole, const std::vector<std::size_t>& places) {
    Rows rows;
    for (const std::size_t cpu : places) {
        std::vector<double>& row = rows.emplace_back();
        for (const std::size_t memory : places) row.push_back(whole.at(cpu, memory));
    }
    return BandwidthMatrix(rows);
}

KnownMachine machine_from_file(const std::vector<NodeId>& nodes, const std::string& file) {
    const MachineFile read = read_machine_file(file);
    if (read.bandwidth.nodes() != nodes.size())
        throw SetupError(fmt::format("{}: a machine of {}; allowed: a machine of {}, like this one",
                                     file, plural(read.bandwidth.nodes(), "node"),
                                     plural(nodes.size(), "node")));
    return {nodes, read.bandwidth, file};
}

// Throws SetupError if there is no valid measurement in the cache folder, or if the measurement
// belongs to another machine, with a different CPU or different nodes.
KnownMachine machine_from_cache(const std::vector<NodeId>& nodes) {
    const std::string file = cached_machine_file();
    if (file.empty()) throw SetupError("there is no folder");
    const json content = read_json(file);
    const MachineFile read = machine_of(content);
    const std::vector<std::size_t> places = places_of(content, nodes);
    if (places.empty() || content.value("cpu", json()) != json(cpu_name()) ||
        *std::max_element(places.begin(), places.end()) >= read.bandwidth.nodes())
        throw SetupError("another machine");
    return {nodes, part_of(read.bandwidth, places), read.source};
}

KnownMachine machine_from_firmware(Os& os, const std::vector<NodeId>& nodes) {
    bool by_firmware = false, by_distance = false;
    Rows rows;
    for (const NodeId cpu : nodes) {
        std::vector<double>& row = rows.emplace_back();
        for (const NodeId memory : nodes) {
            double mb_s = os.firmware_bandwidth(cpu, memory);
            (mb_s > 0 ? by_firmware : by_distance) = true;
            if (mb_s == 0) {
                const double local = os.firmware_bandwidth(memory, memory);
                const int distance = os.distance(cpu, memory);
                mb_s = (local > 0 ? local : supposed_mb_s) * local_distance /
                       (distance > 0 ? distance : supposed_distance);
            }
            row.push_back(mb_s);
        }
    }
    return {nodes, BandwidthMatrix(rows),
            !by_firmware  ? "distances between nodes"
            : by_distance ? "firmware (HMAT), and distances between nodes"
                          : "firmware (HMAT)",
            by_firmware};
}

}  // namespace

KnownMachine known_machine(Os& os, const std::string& file) {
    const std::vector<NodeId> nodes = os.nodes();
    NW_CHECK(nodes.size() <= decision_nodes_max);
    if (!file.empty()) return machine_from_file(nodes, file);
    try {
        return machine_from_cache(nodes);
    } catch (const SetupError&) {
        return machine_from_firmware(os, nodes);
    }
}

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string cached_machine_file() {
    std::filesystem::path folder;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
        folder = cache;
    } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
        folder = std::filesystem::path(home) / ".cache";
    } else {
        return "";
    }
    return folder / "numawarp" / fmt::format("machine-{}.json", host_name());
}

}  // namespace nw
