// SPDX-License-Identifier: Apache-2.0
#include "numa/program/measure.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "numa/measure/known_machine.hpp"
#include "util/check.hpp"
#include "util/file/part_file.hpp"

namespace nw {
namespace {

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

}  // namespace

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
