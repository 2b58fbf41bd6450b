// SPDX-License-Identifier: Apache-2.0
// Tables as text according to RFC 4180. No other file of the engine writes or reads CSV. Numbers
// have as many digits as are necessary to read back the same value; text is UTF-8; lines end with
// \n.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace nw {

// Appends the values (encoded as in output_row.hpp) as one line, and adds their kinds to the kinds
// of the columns.
void append_csv(std::string& text, std::span<const std::byte> values,
                std::vector<std::uint8_t>& kinds_seen);
// Appends a line of column names.
void append_csv_header(std::string& text, const std::vector<std::string>& columns);

// Reads a file that append_csv() has written, line by line.
class CsvRows {
  public:
    // Throws MachineError if the file cannot be opened.
    explicit CsvRows(const std::string& path);

    // Reads the next row, which must have as many cells as the vector has elements. Returns false
    // at the end of the file. Throws MachineError if the row has fewer or more cells.
    bool next(std::vector<std::string>& cells);

  private:
    // Returns the character that ended the cell: a comma, \n, or end_of_file.
    int read_cell(std::string& cell);

    std::string path_;
    std::ifstream file_;
};

}  // namespace nw
