// The tables of a run while it goes on: a CSV file each in the folder of --output. Not another format,
// because such a file can be read, and gone on with, at whatever moment its writer is killed.
//
// A run that is saved and gone on with in another process neither doubles nor loses a row: what is
// saved says how far each file is complete, and who goes on cuts off what was written after that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/model.hpp>

#include "file/appended_file.hpp"
#include "output/column_kinds.hpp"
#include "output/output_row.hpp"

namespace nw {

// How far the tables are complete on the disk. Empty: there is no output.
struct OutputPosition {
    std::vector<std::uint64_t> table_bytes;
    std::vector<std::string> table_ends;  // the last bytes before that: it is still the same file
    ColumnKinds column_kinds;
};

// DIR/<table><ending>
std::string table_file(const std::string& directory, const OutputTable& table,
                       std::string_view ending);
inline constexpr std::string_view csv_ending = ".csv";

class CsvTables final : public RowSink {
  public:
    // Makes the files, or empties them. Throws SetupError if one cannot be made.
    CsvTables(const std::vector<OutputTable>& tables, const std::string& directory);

    // Goes on from there, once begin() was called. Throws SetupError if one of the files is not what
    // it was. Requires: the same tables.
    CsvTables(const std::vector<OutputTable>& tables, const std::string& directory,
              const OutputPosition& from);

    // The others throw MachineError if the disk is full.

    // What stands in the tables behind that position goes. Until then all files are as they were.
    void begin();

    void write(const OutputRow& row) override;

    // Waits until the disk has what was written.
    OutputPosition sync();

    // Likewise, and has the files' names: who says afterwards that the run is over may be believed, also
    // after a power cut.
    void finish();

    // The kinds of all that was written, also by the run that this one goes on with.
    const ColumnKinds& column_kinds() const noexcept { return kinds_; }

  private:
    std::unique_ptr<AppendedFile> open(const OutputTable& table, AppendedFile::Open how) const;

    std::string directory_;
    std::vector<std::uint64_t> cut_to_;                 // by table, until begin()
    std::vector<std::unique_ptr<AppendedFile>> files_;  // by table
    ColumnKinds kinds_;
    std::string line_;  // of write(), kept for its memory
};

}  // namespace nw
