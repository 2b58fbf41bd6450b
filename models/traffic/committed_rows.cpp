// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/committed_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace traffic {
namespace {

// Splits a line at each comma. Requires: no cell contains a comma or a quote. network.cpp rejects
// names with these characters.
void split(std::string_view line, std::vector<std::string>& cells) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    cells.clear();
    for (;;) {
        const std::size_t comma = line.find(',');
        std::string_view cell = line.substr(0, comma);
        if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
            cell = cell.substr(1, cell.size() - 2);
        }
        cells.emplace_back(cell);
        if (comma == std::string_view::npos) return;
        line.remove_prefix(comma + 1);
    }
}

class Columns {
  public:
    Columns(const std::vector<std::string>& header, const std::string& file)
        : header_(header), file_(file) {}

    std::size_t operator[](const char* name) const {
        const auto found = std::find(header_.begin(), header_.end(), name);
        if (found == header_.end()) throw std::runtime_error(file_ + ": no column " + name);
        return static_cast<std::size_t>(found - header_.begin());
    }

  private:
    std::vector<std::string> header_;
    std::string file_;
};

std::uint64_t whole(const std::string& cell) { return std::strtoull(cell.c_str(), nullptr, 10); }
double real(const std::string& cell) { return std::strtod(cell.c_str(), nullptr); }

}  // namespace

std::vector<RoadRow> last_rows(const std::string& csv_file) {
    std::ifstream in(csv_file);
    std::string line;
    if (!std::getline(in, line)) throw std::runtime_error(csv_file + ": cannot be read");
    std::vector<std::string> cells;
    split(line, cells);
    const Columns column(cells, csv_file);
    const std::size_t width = cells.size();
    const std::size_t lp = column["lp"], time = column["time_s"], inside = column["inside"],
                      entered = column["entered"], left = column["left"],
                      accidents = column["hour_accidents"], blocked = column["blocked"],
                      density = column["density_cars_per_km"],
                      speed = column["mean_speed_km_per_h"];
    std::vector<RoadRow> rows;
    while (std::getline(in, line)) {
        split(line, cells);
        if (cells.size() != width) throw std::runtime_error(csv_file + ": a row is torn: " + line);
        const auto number = static_cast<std::size_t>(whole(cells[lp]));
        if (number >= rows.size()) rows.resize(number + 1);
        RoadRow& row = rows[number];
        row.time_s = real(cells[time]);
        row.inside = whole(cells[inside]);
        row.entered = whole(cells[entered]);
        row.left = whole(cells[left]);
        row.accidents += whole(cells[accidents]);
        row.blocked = whole(cells[blocked]) != 0;
        row.density = real(cells[density]);
        row.speed.reset();
        if (!cells[speed].empty()) row.speed = real(cells[speed]);
    }
    return rows;
}

}  // namespace traffic
