// SPDX-License-Identifier: Apache-2.0
#include "results/formats/kept_tables.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "results/output/csv_tables.hpp"
#include "util/check.hpp"
#include "util/file/part_file.hpp"

namespace nw {

namespace fs = std::filesystem;

std::vector<std::string> KeptTables::files() const {
    std::vector<std::string> files;
    if (directory.empty()) return files;
    for (const OutputTable& table : tables) {
        files.push_back(table_file(directory, table, csv_ending));
        for (const OutputFormat* format : choice.formats)
            if (!format->is_csv()) files.push_back(table_file(directory, table, format->ending));
    }
    return files;
}

void KeptTables::check() const {
    for (const OutputFormat* format : choice.formats) {
        if (format->is_csv()) continue;
        for (const OutputTable& table : tables) {
            if (const std::string why = format->refusal(table); !why.empty())
                throw SetupError(fmt::format("--output-format {}: {}; allowed for this model: csv",
                                             choice.word, why));
            const std::string path = table_file(directory, table, format->ending);
            std::error_code ignored;
            if (fs::is_directory(path, ignored))
                throw SetupError(fmt::format(
                    "--output {}: {} is a folder; allowed: an output folder without this subfolder",
                    directory, path));
        }
    }
}

void KeptTables::make(const ColumnKinds& kinds, const TableOrigin& origin) const {
    for (const OutputFormat* format : choice.formats) {
        if (format->is_csv()) continue;
        for (std::size_t t = 0; t < tables.size(); ++t) {
            PartFile part(table_file(directory, tables[t], format->ending));
            format->write(part.path(), {tables[t], table_file(directory, tables[t], csv_ending),
                                        kinds[t], origin});
            part.complete();
        }
    }
}

void KeptTables::remove_unwanted_csv() const {
    for (const OutputFormat* format : choice.formats)
        if (format->is_csv()) return;
    for (const OutputTable& table : tables) {
        std::error_code error;
        const std::string path = table_file(directory, table, csv_ending);
        fs::remove(path, error);
        if (error) throw MachineError(fmt::format("removing {} failed: {}", path, error.message()));
    }
}

}  // namespace nw
