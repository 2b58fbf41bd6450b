// SPDX-License-Identifier: Apache-2.0
#include "results/output/output_writer.hpp"

#include <algorithm>
#include <iterator>

#include "util/handoff.hpp"
#include "util/locks.hpp"

namespace nw {
namespace {

// Minimum number of waiting rows for a merge. Rows at or above the bound stay, and the next merge
// sorts and moves them again; their number is small compared with this constant. This many rows of
// about 100 bytes take less than 0.5 MiB, which fits into a core's cache. Values from 256 to 65,536
// change the instructions per row by −11 % to +17 % (docs/results/constants-2026-11-23.csv).
constexpr std::size_t rows_worth_writing = 4096;

}  // namespace

OutputWriter::OutputWriter(RowSink* sink, std::uint32_t workers)
    : sink_(sink),
      bounds_(std::make_unique<std::atomic<VirtualTime>[]>(workers)),
      workers_(workers) {}

void OutputWriter::hand_over(std::uint32_t worker, std::vector<OutputRow>& rows,
                             VirtualTime bound) {
    note_handoff(Handoff::output_given);
    if (rows.empty() || !wanted()) {
        rows.clear();
        bounds_[worker].store(bound, std::memory_order_release);
        return;
    }
    const LockGuard lock(mutex_);
    std::move(rows.begin(), rows.end(), std::back_inserter(waiting_));
    rows.clear();
    // Store the bound after the rows are in waiting_: a thread that reads the bound may write all
    // rows below it.
    bounds_[worker].store(bound, std::memory_order_release);
    if (waiting_.size() < rows_worth_writing) return;
    VirtualTime lowest = time_infinity;
    for (std::uint32_t w = 0; w < workers_; ++w)
        lowest = std::min(lowest, bounds_[w].load(std::memory_order_acquire));
    if (lowest <= written_below_) return;
    written_below_ = lowest;
    write_waiting(lowest);
}

void OutputWriter::write_waiting(VirtualTime bound) {
    // All rows of an event come from one worker, in their order. A stable sort keeps this order.
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const OutputRow& a, const OutputRow& b) { return before(a.key, b.key); });
    auto end = std::find_if(waiting_.begin(), waiting_.end(),
                            [&](const OutputRow& row) { return row.key.time >= bound; });
    for (auto row = waiting_.begin(); row != end; ++row) write(*row);
    waiting_.erase(waiting_.begin(), end);
}

void OutputWriter::write(const OutputRow& row) {
    if (sink_ != nullptr) sink_->write(row);
}

void OutputWriter::finish() {
    const LockGuard lock(mutex_);
    write_waiting(time_infinity);
}

}  // namespace nw
