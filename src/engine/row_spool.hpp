// Committed rows of one rank, in order, in a file: where there are several ranks, rows wait here until
// the end of the run and are then merged into the tables that one rank would have written.
//
// A file and not memory, because a run may write more than fits. It lies in the output folder, is
// known by its rank, and is gone when it was merged.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "event/event_key.hpp"

namespace nw {

struct OutputRow {
    EventKey key;
    std::uint32_t table;
    std::vector<std::byte> values;
};

class RowSpool {
  public:
    // Throws SetupError if the file cannot be made.
    RowSpool(const std::string& directory, std::uint32_t rank);
    ~RowSpool();  // removes the file
    RowSpool(const RowSpool&) = delete;
    RowSpool& operator=(const RowSpool&) = delete;

    void write(const OutputRow& row);
    // Nothing is written after this. Throws MachineError if the disk is full.
    void finish();

    // The next rows from the front, as bytes for RowReader: whole rows, about `bytes_wanted`; empty at
    // the end. Requires: finish() was called.
    std::string read_some(std::size_t bytes_wanted);

  private:
    std::string path_;
    std::fstream file_;
    bool reading_ = false;
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
