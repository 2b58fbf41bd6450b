// SPDX-License-Identifier: Apache-2.0
// A file with the committed rows of one rank, in the order of events. With several ranks, rows wait
// here until the run is saved or over. Then they are merged into the tables that a single rank
// would have written.
//
// The rows are in a file, because they may not fit into memory. The file has a name in the output
// folder while it is in use: some file systems (9p, which WSL 2 uses for its drives) cannot
// truncate or extend a file without a name. If the process is killed, the file remains, and the
// next run with this folder removes it.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "results/output/output_row.hpp"
#include "util/file/appended_file.hpp"

namespace nw {

class RowSpool final : public RowSink {
  public:
    // Throws SetupError if the file cannot be created. The other functions throw MachineError if
    // the disk is full or broken.
    RowSpool(const std::string& directory, std::uint32_t rank);
    ~RowSpool();
    // Removes files that a killed run has left. Files of ranks with numbers below `ranks` stay.
    // Thread: the first rank's main thread.
    static void remove_left_over(const std::string& directory, std::uint32_t ranks);

    void write(const OutputRow& row) override;
    // Makes all written rows readable. More rows may be written later, but not while the rows are
    // being read.
    void finish();

    // Returns the next rows in the form that RowReader takes: complete rows, about `bytes_wanted`
    // bytes; empty at the end. Requires: finish() was called.
    std::string read_some(std::size_t bytes_wanted);

    // Empties the spool for further rows. Requires: all rows were read.
    void begin_anew();

  private:
    std::unique_ptr<AppendedFile> file_;
    std::uint64_t read_bytes_ = 0;
};

// Decodes the rows that read_some() returns.
class RowReader {
  public:
    explicit RowReader(std::string bytes) : bytes_(std::move(bytes)) {}
    bool empty() const noexcept { return at_ == bytes_.size(); }
    // Requires: !empty().
    OutputRow next();

  private:
    std::string bytes_;
    std::size_t at_ = 0;
};

}  // namespace nw
