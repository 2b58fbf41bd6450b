// Committed rows of one rank, in order, in a file: where there are several ranks, rows wait here until
// the run is saved or over, and are then merged into the tables that one rank would have written.
//
// A file and not memory, because a run may write more than fits. The file keeps its name in the output folder while
// it is in use: some file systems (9p, which the drives of WSL 2 use, too) cannot truncate or extend a file
// without a name. If the process is killed the file stays, and the next run with this folder removes it.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "file/appended_file.hpp"
#include "output/output_row.hpp"

namespace nw {

class RowSpool final : public RowSink {
  public:
    // Throws SetupError if the file cannot be made. The others throw MachineError if the disk is full
    // or broken.
    RowSpool(const std::string& directory, std::uint32_t rank);
    ~RowSpool();
    // Removes the files that a killed run left, from rank number `ranks` on. Thread: the first rank's main thread.
    static void remove_left_over(const std::string& directory, std::uint32_t ranks);

    void write(const OutputRow& row) override;
    // What was written can be read. More may be written later, but not while it is being read.
    void finish();

    // The next rows from the front, as bytes for RowReader: whole rows, about `bytes_wanted`; empty at
    // the end. Requires: finish() was called.
    std::string read_some(std::size_t bytes_wanted);

    // Empties the spool, for further rows. Requires: all was read.
    void begin_anew();

  private:
    std::unique_ptr<AppendedFile> file_;
    std::uint64_t read_bytes_ = 0;
};

// Rows out of what read_some() gave.
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
