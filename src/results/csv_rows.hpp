// Reads back the tables that the engine has written (src/output/output_row.hpp), a row at a time.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace nw {

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
