// SPDX-License-Identifier: Apache-2.0
#include "results/output/csv.hpp"

#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "results/output/column_kinds.hpp"
#include "util/check.hpp"
#include "util/utf8.hpp"

namespace nw {
namespace {

constexpr int end_of_file = std::char_traits<char>::eof();

void append_quoted(std::string& line, std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos) {
        append_utf8(line, text);
        return;
    }
    line += '"';
    for (std::size_t quote; (quote = text.find('"')) != std::string_view::npos;) {
        append_utf8(line, text.substr(0, quote));
        line += "\"\"";
        text.remove_prefix(quote + 1);
    }
    append_utf8(line, text);
    line += '"';
}

void append_real(std::string& line, std::uint64_t word) {
    double real;
    std::memcpy(&real, &word, sizeof real);
    fmt::format_to(std::back_inserter(line), "{}", real);
}

std::uint8_t append_integer(std::string& line, OutputValue::Kind kind, std::uint64_t word) {
    const bool beyond = static_cast<std::int64_t>(word) < 0;
    if (kind == OutputValue::Kind::integer && beyond) {
        fmt::format_to(std::back_inserter(line), "{}", static_cast<std::int64_t>(word));
        return saw_negative;
    }
    fmt::format_to(std::back_inserter(line), "{}", word);
    return beyond ? saw_large : saw_integer;
}

}  // namespace

void append_csv(std::string& text, std::span<const std::byte> values,
                std::vector<std::uint8_t>& kinds_seen) {
    const std::byte* at = values.data();
    const std::byte* const end = at + values.size();
    for (std::size_t column = 0; at < end; ++column) {
        if (column > 0) text += ',';
        const auto kind = static_cast<OutputValue::Kind>(*at++);
        std::uint64_t word;
        std::memcpy(&word, at, sizeof word);
        at += sizeof word;
        if (kind == OutputValue::Kind::text) {
            kinds_seen[column] |= word > 0 ? saw_text : saw_blank;
            append_quoted(text, {reinterpret_cast<const char*>(at), word});
            at += word;
        } else if (kind == OutputValue::Kind::real) {
            kinds_seen[column] |= saw_real;
            append_real(text, word);
        } else {
            kinds_seen[column] |= append_integer(text, kind, word);
        }
    }
    text += '\n';
}

void append_csv_header(std::string& text, const std::vector<std::string>& columns) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
        if (column > 0) text += ',';
        append_quoted(text, columns[column]);
    }
    text += '\n';
}

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
    if (end != '\n') throw MachineError(fmt::format("{}: a line is truncated or too long", path_));
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
