// SPDX-License-Identifier: Apache-2.0
// A row of an output table, after an event has written it and before it is in the file. The row is
// encoded as bytes, because most rows wait until their event is committed, and many are never
// written. Each value has one byte for its kind, and 8 bytes with a number or with the length of
// the following text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/model.hpp>

#include "api/event_key.hpp"

namespace nw {

struct OutputRow {
    EventKey key;
    std::uint32_t table;
    std::vector<std::byte> values;
};

// Receives committed rows in the order of events. Thread: one at a time.
class RowSink {
  public:
    // Throws MachineError if the disk is full.
    virtual void write(const OutputRow& row) = 0;

  protected:
    ~RowSink() = default;
};

// Maximum length of a text in a row. The length of a longer text is probably wrong. So such a text
// is refused before it fills the memory.
inline constexpr std::size_t output_text_bytes_max = std::size_t{16} << 20;

// Returns the size of the encoded row. Throws ModelError if the model does not declare the table,
// if the number of values differs from the number of columns, or if a text is too long. Reads one
// byte of each page of each text. So a text with an invalid address fails here: at the same address
// on every engine, whether or not the row is written, and before memory is allocated for the row.
std::size_t encoded_row_bytes(const std::vector<OutputTable>& tables, std::size_t table,
                              std::span<const OutputValue> row);
// As above, without the checks of table and columns, and also for the engine's tables. Requires:
// one value for each column.
std::size_t encoded_row_bytes(const OutputTable& table, std::span<const OutputValue> row);
void encode_row(std::span<const OutputValue> row, std::byte* to) noexcept;

}  // namespace nw
