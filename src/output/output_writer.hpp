// Committed rows on their way to the tables, in the total order of events whatever the engine and the
// number of workers. Workers hand over rows of final events together with a bound, "I shall hand over
// nothing below this time any more"; rows below all workers' bounds are sorted and written.
//
// They go into the tables (csv_tables.hpp); where there are several ranks, into each rank's spool
// (row_spool.hpp), and from there into the first one's tables when the run is saved or over
// (output_merge.hpp).
//
// Thread: hand_over from any worker, under a mutex, only when there is something to hand over; the
// bound alone is an atomic store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <numawarp/time.hpp>

#include "output/output_row.hpp"

namespace nw {

class OutputWriter {
  public:
    // Without a sink, which outlives this, rows are dropped.
    OutputWriter(RowSink* sink, std::uint32_t workers);

    bool wanted() const noexcept { return sink_ != nullptr; }

    // Takes the rows (leaves the vector empty) and the worker's new bound. This and what follows throw
    // MachineError if the disk is full.
    void hand_over(std::uint32_t worker, std::vector<OutputRow>& rows, VirtualTime bound);

    // The bound alone.
    void promise(std::uint32_t worker, VirtualTime bound) noexcept {
        bounds_[worker].store(bound, std::memory_order_release);  // pairs with hand_over()
    }

    // For rows that come in order already, from one thread, with nothing handed over left.
    void write(const OutputRow& row);

    // Writes all that was handed over. Requires: nobody hands over meanwhile, and later rows belong
    // behind these.
    void finish();

  private:
    void write_waiting(VirtualTime bound);

    RowSink* const sink_;
    std::unique_ptr<std::atomic<VirtualTime>[]> bounds_;
    const std::uint32_t workers_;
    std::mutex mutex_;
    std::vector<OutputRow> waiting_;
    VirtualTime written_below_ = 0;
};

}  // namespace nw
