// What the tables of a run are kept as when it is over: --output-format.
//
// While a run goes on its tables are CSV (csv_tables.hpp). When it is over, each other format that the
// user chose is made of them, a table at a time, and then CSV goes, if it was not chosen. So a format has
// to read and write tables that are whole, and nothing else: killed runs, several ranks and restarts are
// not its business.
//
// A new one is an OutputFormat in a file of its own in this room, as hdf5_table.hpp has it, and a line in
// the table of output_format.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/model.hpp>

namespace nw {

// What a table says of the run that it comes from.
struct TableOrigin {
    std::string model;
    std::uint64_t seed = 0;
    std::string digest;
};

// A table that is whole, to be made into another file.
struct WholeTable {
    const OutputTable& table;
    std::string csv_path;  // to be read with CsvRows; the first row has the columns' names
    std::vector<std::uint8_t> kinds;  // of the columns, each a sum of KindSeen (column_kinds.hpp)
    const TableOrigin& origin;
};

struct OutputFormat {
    std::string_view ending;  // of its files, with the dot

    // Why a table cannot have these names, in words; empty if it can.
    std::string (*refusal)(const OutputTable& table);

    // Writes the file at `path`, which has no other reader or writer, and gets its own name when it is
    // complete. Throws MachineError; the file is then useless. Null: CSV, which is there.
    void (*write)(const std::string& path, const WholeTable& table);

    constexpr bool is_csv() const noexcept { return write == nullptr; }
};

// What can be chosen, by its word. The first is the default.
struct FormatChoice {
    std::string_view word;
    std::vector<const OutputFormat*> formats;
};
std::span<const FormatChoice> format_choices();

}  // namespace nw
