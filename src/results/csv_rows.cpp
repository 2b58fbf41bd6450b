#include "results/csv_rows.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace nw {

namespace {

constexpr int end_of_file = std::char_traits<char>::eof();

}  // namespace

CsvRows::CsvRows(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw MachineError(fmt::format("reading {} failed", path_));
}

bool CsvRows::next(std::vector<std::string>& cells) {
    if (file_.rdbuf()->sgetc() == end_of_file) return false;
    int end = ',';
    for (std::string& cell : cells) {
        if (end != ',') throw MachineError(fmt::format("{}: a line is too short", path_));
        end = read_cell(cell);
    }
    if (end != '\n') throw MachineError(fmt::format("{}: a line is cut off or too long", path_));
    return true;
}

int CsvRows::read_cell(std::string& cell) {
    cell.clear();
    std::streambuf& in = *file_.rdbuf();
    int c = in.sbumpc();
    if (c != '"') {
        for (; c != ',' && c != '\n' && c != end_of_file; c = in.sbumpc())
            cell += static_cast<char>(c);
        return c;
    }
    for (;;) {
        c = in.sbumpc();
        if (c == '"') c = in.sgetc() == '"' ? in.sbumpc() : -2;
        if (c == -2 || c == end_of_file) return in.sbumpc();
        cell += static_cast<char>(c);
    }
}

}  // namespace nw
