// SPDX-License-Identifier: Apache-2.0
#include "jobs/research/placement/measure.hpp"

#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numawarp/model.hpp>

#include "numa/measure/known_machine.hpp"
#include "util/check.hpp"
#include "util/file/part_file.hpp"

namespace nw {
namespace {

using json = nlohmann::ordered_json;

std::string table(const char* title, const MeasuredMachine& measured,
                  const std::vector<std::vector<double>>& rows) {
    std::string text = fmt::format("{}\n{:>8}", title, "node");
    for (const NodeId node : measured.nodes) text += fmt::format(" {:>8}", index(node));
    for (std::size_t c = 0; c < rows.size(); ++c) {
        text += fmt::format("\n{:>8}", index(measured.nodes[c]));
        for (const double value : rows[c]) text += fmt::format(" {:>8.0f}", value);
    }
    return text + "\n\n";
}

void write(const std::string& file, const std::string& content) {
    PartFile part(file);
    std::ofstream out(part.path());
    out << content << std::flush;
    if (!out) throw MachineError(fmt::format("{}: cannot be written", file));
    out.close();
    part.complete();
}

json rounded(const std::vector<std::vector<double>>& rows) {
    json result = json::array();
    for (const std::vector<double>& row : rows) {
        json numbers = json::array();
        for (const double value : row) numbers.push_back(std::round(value * 10) / 10);
        result.push_back(numbers);
    }
    return result;
}

}  // namespace

std::string describe_measure(const MeasuredMachine& measured, const Machine& machine) {
    json nodes = json::array();
    for (const NodeId id : measured.nodes) {
        json node = {{"node", index(id)}, {"name", ""}, {"memory_bytes", 0}};
        for (const Machine::Node& known : machine.nodes) {
            if (known.id != id) continue;
            node["name"] = known.name;
            node["memory_bytes"] = known.total_bytes;
        }
        node["cpus"] = json::array();
        for (const Cpu& cpu : machine.cpus)
            if (cpu.node == id) node["cpus"].push_back(cpu.number);
        nodes.push_back(node);
    }
    const std::string date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    const json content = {
        {"source", fmt::format("measured on {} on {}", host_name(), date)},
        {"convention",
         "bw[c][m]: MB/s that CPUs of node c read from memory of node m, with no other traffic; "
         "bw_busy: while all nodes read, each from one node; rows and columns as in nodes"},
        {"host", host_name()},
        {"cpu", cpu_name()},
        {"nodes", nodes},
        {"bw", rounded(measured.bandwidth)},
        {"bw_busy", rounded(measured.bandwidth_busy)},
        {"latency_ns", rounded(measured.latency_ns)}};
    return content.dump(1) + '\n';
}

std::string measure_and_keep(std::string file) {
    if (file.empty()) {
        file = cached_machine_file();
        if (file.empty())
            throw SetupError(
                "there is no cache folder: neither XDG_CACHE_HOME nor HOME is a path; "
                "allowed: placement measure FILE");
        std::error_code failed;
        std::filesystem::create_directories(std::filesystem::path(file).parent_path(), failed);
        if (failed) throw MachineError(fmt::format("{}: {}", file, failed.message()));
    }
    const MeasuredMachine measured = measure_machine(linux_os());
    write(file, describe_measure(measured, read_machine()));
    return table(
               "MB/s read by the CPUs of a node (row) from the memory of a node (column), with no "
               "other traffic",
               measured, measured.bandwidth) +
           table("the same while all nodes read, each from one node", measured,
                 measured.bandwidth_busy) +
           table("nanoseconds to read an address", measured, measured.latency_ns) +
           fmt::format("machine  {}\n", file);
}

}  // namespace nw
