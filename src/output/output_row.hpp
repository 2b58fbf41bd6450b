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

// Where committed rows go, in the order of events. Thread: one at a time.
class RowSink {
  public:
    // Throws MachineError if the disk is full.
    virtual void write(const OutputRow& row) = 0;

  protected:
    ~RowSink() = default;
};

// The longest text of a row. A longer one is taken for a wrong length before it fills the memory.
inline constexpr std::size_t output_text_bytes_max = std::size_t{16} << 20;

// Bytes of a row as it is kept with an uncommitted event; throws ModelError unless the model declares the table,
// the row has a value for each of its columns, and no text is longer than that. Reads a byte of each
// page of each text: who was given a wild one fails here, at the same address on every engine, whether
// or not the row is wanted, and before anything was allocated for it.
std::size_t encoded_row_bytes(const std::vector<OutputTable>& tables, std::size_t table,
                              std::span<const OutputValue> row);
// The same without the checks of table and columns, also for the engine's own tables. Requires: a value for each column.
std::size_t encoded_row_bytes(const OutputTable& table, std::span<const OutputValue> row);
void encode_row(std::span<const OutputValue> row, std::byte* to) noexcept;

}  // namespace nw
