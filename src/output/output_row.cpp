#include "output/output_row.hpp"

#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "output/column_kinds.hpp"

namespace nw {
namespace {

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

void read_pages_of(std::string_view text) noexcept {
    constexpr std::size_t page = 4096;
    const volatile char* const bytes = text.data();
    const std::size_t to_next_page = page - reinterpret_cast<std::uintptr_t>(text.data()) % page;
    if (text.empty()) return;
    static_cast<void>(bytes[0]);
    for (std::size_t at = to_next_page; at < text.size(); at += page) static_cast<void>(bytes[at]);
}

std::size_t text_bytes(const OutputTable& table, const OutputValue& value) {
    switch (value.kind) {
        case OutputValue::Kind::integer:
        case OutputValue::Kind::natural:
        case OutputValue::Kind::real:
            return 0;
        case OutputValue::Kind::character:
            return 1;
        case OutputValue::Kind::text:
            break;
    }
    if (value.text.size() > output_text_bytes_max) {
        throw ModelError(
            fmt::format("output() of a text of {} bytes to table {}; legal: at most {}",
                        value.text.size(), table.name, output_text_bytes_max));
    }
    read_pages_of(value.text);
    return value.text.size();
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

std::size_t encoded_row_bytes(const std::vector<OutputTable>& tables, std::size_t table,
                              std::span<const OutputValue> row) {
    // Who may catch and keep what is thrown is the handler: it is made in the LP's heap.
    if (table >= tables.size())
        throw ModelError(
            fmt::format("output() to table {}; the model declares {}", table, tables.size()));
    if (row.size() != tables[table].columns.size())
        throw ModelError(fmt::format("output() of {} values to table {}, which has {} columns",
                                     row.size(), tables[table].name, tables[table].columns.size()));
    std::size_t bytes = 0;
    for (const OutputValue& value : row) {
        bytes += 1 + sizeof(std::uint64_t) + text_bytes(tables[table], value);
    }
    return bytes;
}

void encode_row(std::span<const OutputValue> row, std::byte* to) noexcept {
    for (const OutputValue& value : row) {
        const auto letter = static_cast<char>(value.integer);
        const bool is_letter = value.kind == OutputValue::Kind::character;
        const std::string_view text = is_letter ? std::string_view(&letter, 1) : value.text;
        const OutputValue::Kind kind = is_letter ? OutputValue::Kind::text : value.kind;
        auto word = static_cast<std::uint64_t>(value.integer);
        if (kind == OutputValue::Kind::real) std::memcpy(&word, &value.real, sizeof word);
        if (kind == OutputValue::Kind::text) word = text.size();

        *to++ = static_cast<std::byte>(kind);
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
        if (kind != OutputValue::Kind::text || text.empty()) continue;
        std::memcpy(to, text.data(), text.size());
        to += text.size();
    }
}

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

}  // namespace nw
