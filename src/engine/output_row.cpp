#include "engine/output_row.hpp"

#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "engine/column_kinds.hpp"
#include "numa/heap_scope.hpp"

namespace nw {
namespace {

void append_quoted(std::string& line, std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos) {
        line += text;
        return;
    }
    line += '"';
    for (const char c : text) {
        if (c == '"') line += '"';
        line += c;
    }
    line += '"';
}

}  // namespace

std::size_t encoded_row_bytes(const std::vector<OutputTable>& tables, std::size_t table,
                              std::span<const OutputValue> row) {
    if (table >= tables.size()) {
        const PlatformScope platform;
        throw ModelError(
            fmt::format("output() to table {}; the model declares {}", table, tables.size()));
    }
    if (row.size() != tables[table].columns.size()) {
        const PlatformScope platform;
        throw ModelError(fmt::format("output() of {} values to table {}, which has {} columns",
                                     row.size(), tables[table].name, tables[table].columns.size()));
    }
    std::size_t bytes = 0;
    for (const OutputValue& value : row) {
        bytes += 1 + sizeof(std::uint64_t);
        if (value.kind == OutputValue::Kind::text) bytes += value.text.size();
    }
    return bytes;
}

void encode_row(std::span<const OutputValue> row, std::byte* to) noexcept {
    for (const OutputValue& value : row) {
        *to++ = static_cast<std::byte>(value.kind);
        std::uint64_t word = 0;
        switch (value.kind) {
            case OutputValue::Kind::integer:
                word = static_cast<std::uint64_t>(value.integer);
                break;
            case OutputValue::Kind::real:
                std::memcpy(&word, &value.real, sizeof word);
                break;
            case OutputValue::Kind::text:
                word = value.text.size();
                break;
        }
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
        if (value.kind == OutputValue::Kind::text) {
            std::memcpy(to, value.text.data(), value.text.size());
            to += value.text.size();
        }
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
        switch (kind) {
            case OutputValue::Kind::integer:
                kinds_seen[column] |= saw_integer;
                fmt::format_to(std::back_inserter(text), "{}", static_cast<std::int64_t>(word));
                break;
            case OutputValue::Kind::real: {
                kinds_seen[column] |= saw_real;
                double real;
                std::memcpy(&real, &word, sizeof real);
                fmt::format_to(std::back_inserter(text), "{}", real);
                break;
            }
            case OutputValue::Kind::text:
                kinds_seen[column] |= word > 0 ? saw_text : saw_blank;
                append_quoted(text, {reinterpret_cast<const char*>(at), word});
                at += word;
                break;
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
