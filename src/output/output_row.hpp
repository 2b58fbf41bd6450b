// A row of an output table between the event that wrote it and the file: bytes, since most rows wait
// for their event to be committed and many are never written. Per value a kind byte, and 8 bytes of
// number, or a length and text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/model.hpp>

#include "event/event_key.hpp"

namespace nw {

struct OutputRow {
    EventKey key;
    std::uint32_t table;
    std::vector<std::byte> values;
};

// Of one text of a row. A longer one is taken for a length that is wrong, before it fills the memory.
inline constexpr std::size_t output_text_bytes_max = std::size_t{16} << 20;

// Bytes of a row as it is kept with an uncommitted event; throws ModelError unless the table exists,
// the row has a value for each of its columns, and no text is longer than that. Reads a byte of each
// page of each text: who was given a wild one fails here, at the same address on every engine, whether
// or not the row is wanted, and before anything was allocated for it.
std::size_t encoded_row_bytes(const std::vector<OutputTable>& tables, std::size_t table,
                              std::span<const OutputValue> row);
void encode_row(std::span<const OutputValue> row, std::byte* to) noexcept;

// Appends the row as a line of CSV, and adds to the columns' kinds what it holds.
void append_csv(std::string& text, std::span<const std::byte> values,
                std::vector<std::uint8_t>& kinds_seen);
// The same for a line of column names.
void append_csv_header(std::string& text, const std::vector<std::string>& columns);

}  // namespace nw
