// Committed output on its way to the model's CSV files, in the total order of events whatever the
// engine and the number of workers. Workers hand over rows of final events together with a bound,
// "I shall hand over nothing below this time any more"; rows below all workers' bounds are sorted
// and written.
//
// Rows are bytes until then: per value a kind byte, and 8 bytes or a length and text.
//
// Where there are several ranks, each spools its rows, and the first writes the tables when the run is
// over (output_merge.hpp).
//
// Thread: hand_over from any worker, under a mutex, only when there is something to hand over; the
// bound alone is an atomic store.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "engine/row_spool.hpp"
#include "event/event_key.hpp"

namespace nw {

// Bytes of a row as it is kept with an uncommitted event; throws ModelError unless the table exists
// and the row has a value for each of its columns.
std::size_t encoded_row_bytes(const std::vector<OutputTable>& tables, std::size_t table,
                              std::span<const OutputValue> row);
void encode_row(std::span<const OutputValue> row, std::byte* to) noexcept;

class OutputWriter {
  public:
    using Row = OutputRow;

    // An empty directory: rows are counted and dropped. Throws SetupError if a file cannot be made.
    OutputWriter(const std::vector<OutputTable>& tables, const std::string& directory,
                 std::uint32_t workers);

    // The rows go to `spool`, which outlives this, and not to tables.
    OutputWriter(RowSpool& spool, std::uint32_t workers);

    bool wanted() const noexcept { return spool_ != nullptr || !files_.empty(); }

    // Takes the rows (leaves the vector empty) and the worker's new bound.
    void hand_over(std::uint32_t worker, std::vector<Row>& rows, VirtualTime bound);

    // The bound alone.
    void promise(std::uint32_t worker, VirtualTime bound) noexcept {
        bounds_[worker].store(bound, std::memory_order_release);  // pairs with hand_over()
    }

    // For rows that come in order already, from one thread, with nothing handed over left.
    void write(const Row& row);

    // Writes all that was handed over and flushes the files. Throws MachineError if the disk is full.
    void finish();

  private:
    void write_below(VirtualTime bound);

    RowSpool* spool_ = nullptr;
    std::vector<std::unique_ptr<std::ofstream>> files_;  // by table
    std::unique_ptr<std::atomic<VirtualTime>[]> bounds_;
    std::uint32_t workers_;
    std::mutex mutex_;
    std::vector<Row> waiting_;
    VirtualTime written_below_ = 0;
    std::string directory_;
};

}  // namespace nw
