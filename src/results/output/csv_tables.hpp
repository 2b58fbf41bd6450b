// SPDX-License-Identifier: Apache-2.0
// The output tables during a run: one CSV file per table in the folder of --output. The format is
// always CSV, because such a file can be read and continued at whatever moment its writer is
// killed.
//
// A run that is saved and continued by another process neither duplicates nor loses a row: the
// saved run contains the length up to which each file is complete, and the next process removes
// everything after this length.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/model.hpp>

#include "results/output/column_kinds.hpp"
#include "results/output/output_row.hpp"
#include "util/file/appended_file.hpp"

namespace nw {

// The lengths up to which the tables are complete on the disk. Empty if there is no output.
struct OutputPosition {
    std::vector<std::uint64_t> table_bytes;
    std::vector<std::string> table_ends;  // the bytes before that length; they identify the file
    ColumnKinds column_kinds;
};

// Returns DIR/<table><ending>.
std::string table_file(const std::string& directory, const OutputTable& table,
                       std::string_view ending);
inline constexpr std::string_view csv_ending = ".csv";

class CsvTables final : public RowSink {
  public:
    // Creates or empties the files. Throws SetupError if a file cannot be created.
    CsvTables(const std::vector<OutputTable>& tables, const std::string& directory);

    // Continues the tables from the position `from`; begin() must be called before the first
    // write(). Throws SetupError if a file is not the file that the saved run wrote. Requires: the
    // saved run had the same tables.
    CsvTables(const std::vector<OutputTable>& tables, const std::string& directory,
              const OutputPosition& from);

    // All functions below throw MachineError if the disk is full.

    // Removes the rows after the position from which the run continues. No file is changed before
    // this call.
    void begin();

    void write(const OutputRow& row) override;

    // Waits until everything that was written is on the disk. Returns the position.
    OutputPosition sync();

    // Waits like sync(), and also until the folder, which contains the files' names, is on the
    // disk. After this call the run can be recorded as finished; the files remain complete after a
    // power failure.
    void finish();

    // The kinds of all values that were written, also by the run that this process continues.
    const ColumnKinds& column_kinds() const noexcept { return kinds_; }

  private:
    std::unique_ptr<AppendedFile> open(const OutputTable& table, AppendedFile::Open how) const;

    std::string directory_;
    std::vector<std::uint64_t> cut_to_;                 // per table; empty after begin()
    std::vector<std::unique_ptr<AppendedFile>> files_;  // per table
    ColumnKinds kinds_;
    std::string line_;  // used by write(), kept to reuse its memory
};

}  // namespace nw
