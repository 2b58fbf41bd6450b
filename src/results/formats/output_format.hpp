// SPDX-License-Identifier: Apache-2.0
// The file formats in which the tables of a run are kept (--output-format).
//
// During the run, the tables are CSV files (csv_tables.hpp). After the run, each table is converted
// to each other format that the user chose. Then the CSV files are removed, if CSV was not chosen.
// So a format only has to convert complete tables: killed runs, several ranks and restarts do not
// concern it.
//
// To add a format, write its functions in a new file of this folder, like hdf5_table.hpp, and add
// an OutputFormat and the choices with it to output_format.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/model.hpp>

namespace nw {

// Facts about the run, which are stored with a table.
struct TableOrigin {
    std::string model;
    std::uint64_t seed = 0;
    std::string digest;
};

// A complete table, which is to be converted.
struct WholeTable {
    const OutputTable& table;
    std::string csv_path;             // CsvRows reads it; the first row has the columns' names
    std::vector<std::uint8_t> kinds;  // of the columns, each a sum of KindSeen (column_kinds.hpp)
    const TableOrigin& origin;
};

struct OutputFormat {
    std::string_view ending;  // of the format's files, with the dot

    // Returns the reason why the format cannot store a table with these names; empty if it can.
    std::string (*refusal)(const OutputTable& table);

    // Writes the file at `path`. No other code reads or writes this file; it gets its final name
    // when it is complete. Throws MachineError; the file is then useless. Null: CSV, which needs no
    // conversion.
    void (*write)(const std::string& path, const WholeTable& table);

    constexpr bool is_csv() const noexcept { return write == nullptr; }
};

// A value of --output-format. The first is the default.
struct FormatChoice {
    std::string_view word;
    std::vector<const OutputFormat*> formats;
};
std::span<const FormatChoice> format_choices();

}  // namespace nw
