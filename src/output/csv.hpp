// Tables as text, as RFC 4180 has it: written and read back here and nowhere else in the engine. Numbers
// have as many digits as it takes to read back the same, text is UTF-8, lines end with \n.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace nw {

// Appends the values (output_row.hpp) as a line, and adds to the columns' kinds what it holds.
void append_csv(std::string& text, std::span<const std::byte> values,
                std::vector<std::uint8_t>& kinds_seen);
// The same for a line of column names.
void append_csv_header(std::string& text, const std::vector<std::string>& columns);

// The lines of a file that was written so, one at a time.
class CsvRows {
  public:
    // Throws MachineError if it cannot be opened.
    explicit CsvRows(const std::string& path);

    // Takes the next row, of as many cells as the vector has; false at the end. Throws MachineError if
    // there are fewer or more.
    bool next(std::vector<std::string>& cells);

  private:
    // What ended the cell: a comma, the end of the line (\n), or of the file.
    int read_cell(std::string& cell);

    std::string path_;
    std::ifstream file_;
};

}  // namespace nw
