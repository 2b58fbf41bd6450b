#include "hdf5/hdf5_output.hpp"

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/check.hpp"
#include "file/part_file.hpp"
#include "results/output_files.hpp"

namespace nw {

namespace fs = std::filesystem;

void check_hdf5_output(const Setup& setup, const Settings& settings) {
    if (settings.output_format == OutputFormat::csv) return;
    const std::string_view format = word_for(settings.output_format);
    if (settings.config.output_directory.empty())
        throw SetupError(fmt::format(
            "--output-format {}: there is no output; legal: with --output DIR", format));
    for (const OutputTable& table : setup.outputs) {
        if (table.name == ".")
            throw SetupError(
                fmt::format("--output-format {}: a table must not be called .; legal for this "
                            "model: csv",
                            format));
        std::set<std::string_view> names;
        for (const std::string& name : table.columns)
            if (name.empty() || name == "." || name.find('/') != std::string::npos ||
                !names.insert(name).second)
                throw SetupError(fmt::format(
                    "--output-format {}: column \"{}\" of table {}: HDF5 wants names that differ, "
                    "with no / in them; legal for this model: csv",
                    format, name, table.name));
        const fs::path path = table_file(table, settings, ".h5");
        std::error_code ignored;
        if (fs::is_directory(path, ignored))
            throw SetupError(fmt::format("--output {}: {} is a folder; legal: a folder without it",
                                         settings.config.output_directory, path.string()));
    }
}

void write_hdf5_output(const Setup& setup, const Settings& settings, const ColumnKinds& kinds,
                       const TableOrigin& origin) {
    if (settings.output_format == OutputFormat::csv) return;
    for (std::size_t t = 0; t < setup.outputs.size(); ++t) {
        const OutputTable& table = setup.outputs[t];
        PartFile part(table_file(table, settings, ".h5"));
        write_hdf5_table(part.path(), table_file(table, settings, ".csv"), table, kinds[t], origin);
        part.complete();
    }
}

void remove_unwanted_csv(const Setup& setup, const Settings& settings) {
    if (settings.output_format != OutputFormat::hdf5) return;
    for (const OutputTable& table : setup.outputs) {
        std::error_code error;
        const fs::path path = table_file(table, settings, ".csv");
        fs::remove(path, error);
        if (error)
            throw MachineError(
                fmt::format("removing {} failed: {}", path.string(), error.message()));
    }
}

}  // namespace nw
