// SPDX-License-Identifier: Apache-2.0
// Writes committed rows to the tables in the total order of events, with any engine and any number
// of workers. A worker hands over rows of final events together with a bound: a promise that all
// its later rows have this time or a later one. Rows below the bounds of all workers are sorted and
// written.
//
// With one rank the sink is the tables (csv_tables.hpp). With several ranks it is the rank's spool
// (row_spool.hpp); when the run is saved or over, the spools are merged into the first rank's
// tables (output_merge.hpp).
//
// Thread: any worker calls hand_over(). The call takes a mutex only if there are rows; otherwise it
// is one atomic store of the bound.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <numawarp/time.hpp>

#include "results/output/output_row.hpp"
#include "util/locks.hpp"

namespace nw {

class OutputWriter {
  public:
    // `sink` must outlive this object. If it is null, rows are discarded.
    OutputWriter(RowSink* sink, std::uint32_t workers);

    bool wanted() const noexcept { return sink_ != nullptr; }

    // Takes the rows (and leaves the vector empty) and the worker's new bound. hand_over(), write()
    // and finish() throw MachineError if the disk is full.
    void hand_over(std::uint32_t worker, std::vector<OutputRow>& rows, VirtualTime bound);

    // Takes only a new bound.
    void promise(std::uint32_t worker, VirtualTime bound) noexcept {
        // Pairs with the acquire in hand_over().
        bounds_[worker].store(bound, std::memory_order_release);
    }

    // Writes a row that is already in order. Requires: called by one thread only, and no row that
    // was handed over is waiting.
    void write(const OutputRow& row);

    // Writes all rows that were handed over. Requires: no thread calls hand_over() meanwhile, and
    // all later rows come after these rows in the order of events.
    void finish();

  private:
    void write_waiting(VirtualTime bound) NW_REQUIRES(mutex_);

    RowSink* const sink_;
    std::unique_ptr<std::atomic<VirtualTime>[]> bounds_;
    const std::uint32_t workers_;
    Mutex mutex_;
    std::vector<OutputRow> waiting_ NW_GUARDED_BY(mutex_);
    VirtualTime written_below_ NW_GUARDED_BY(mutex_) = 0;
};

}  // namespace nw
