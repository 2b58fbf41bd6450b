// SPDX-License-Identifier: Apache-2.0
#include "results/output/output_row.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace nw {
namespace {

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
            fmt::format("output() of a string of {} bytes to table {}; allowed: at most {}",
                        value.text.size(), table.name, output_text_bytes_max));
    }
    read_pages_of(value.text);
    return value.text.size();
}

}  // namespace

std::size_t encoded_row_bytes(const std::vector<OutputTable>& tables, std::size_t table,
                              std::span<const OutputValue> row) {
    // The exception is allocated in the LP's heap, because the handler may catch and keep it.
    if (table >= tables.size() || tables[table].is_engines)
        throw ModelError(fmt::format(
            "output() to table {}; the number of tables that the model declares is {}", table,
            std::count_if(tables.begin(), tables.end(),
                          [](const OutputTable& declared) { return !declared.is_engines; })));
    if (row.size() != tables[table].columns.size())
        throw ModelError(fmt::format("output() of {} values to table {}, which has {} columns",
                                     row.size(), tables[table].name, tables[table].columns.size()));
    return encoded_row_bytes(tables[table], row);
}

std::size_t encoded_row_bytes(const OutputTable& table, std::span<const OutputValue> row) {
    std::size_t bytes = 0;
    for (const OutputValue& value : row)
        bytes += 1 + sizeof(std::uint64_t) + text_bytes(table, value);
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

}  // namespace nw
