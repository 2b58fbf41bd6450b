// Committed output on its way to the model's CSV files, in the total order of events whatever the
// engine and the number of workers. Workers hand over rows of final events together with a bound,
// "I shall hand over nothing below this time any more"; rows below all workers' bounds are sorted
// and written.
//
// A run that is saved and gone on with in another process neither doubles nor loses a row: what is
// saved says how far each file is complete, and who goes on cuts off what was written after that.
//
// Where there are several ranks, each spools its rows, and the first writes the tables when the run is
// saved or over (output_merge.hpp).
//
// Thread: hand_over from any worker, under a mutex, only when there is something to hand over; the
// bound alone is an atomic store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "file/appended_file.hpp"
#include "output/column_kinds.hpp"
#include "output/output_row.hpp"
#include "output/row_spool.hpp"

namespace nw {

// How far the tables are complete on the disk. Empty: there is no output.
struct OutputPosition {
    std::vector<std::uint64_t> table_bytes;
    std::vector<std::string> table_ends;  // the last bytes before that: it is still the same file
    ColumnKinds column_kinds;
};

class OutputWriter {
  public:
    using Row = OutputRow;

    // An empty directory: rows are counted and dropped. Throws SetupError if a file cannot be made.
    OutputWriter(const std::vector<OutputTable>& tables, const std::string& directory,
                 std::uint32_t workers);

    // Goes on from there, once begin() was called. Throws SetupError if one of the files is not what
    // it was. Requires: the same tables, and a directory if and only if there was one.
    OutputWriter(const std::vector<OutputTable>& tables, const std::string& directory,
                 std::uint32_t workers, const OutputPosition& from);

    // The rows go to `spool`, which outlives this, and not to tables.
    OutputWriter(RowSpool& spool, std::uint32_t workers);

    // What stands in the tables behind that position goes. Until then all files are as they were.
    void begin();

    bool wanted() const noexcept { return spool_ != nullptr || !files_.empty(); }

    // Takes the rows (leaves the vector empty) and the worker's new bound. This and what follows throw
    // MachineError if the disk is full.
    void hand_over(std::uint32_t worker, std::vector<Row>& rows, VirtualTime bound);

    // The bound alone.
    void promise(std::uint32_t worker, VirtualTime bound) noexcept {
        bounds_[worker].store(bound, std::memory_order_release);  // pairs with hand_over()
    }

    // For rows that come in order already, from one thread, with nothing handed over left.
    void write(const Row& row);

    // Writes what was handed over below the bound, and waits until the disk has it.
    // Requires: nobody hands over meanwhile, and nobody will below the bound.
    // With a spool: as far as the spool, and the position is empty.
    OutputPosition sync(VirtualTime bound);

    // Writes all that was handed over, and waits until the disk has the tables: who says afterwards that
    // the run is over may be believed, also after a power cut.
    void finish();

    // Of what was written to tables, also before this goes on.
    const ColumnKinds& column_kinds() const noexcept { return kinds_; }

  private:
    OutputWriter(const std::vector<OutputTable>& tables, const std::string& directory,
                 std::uint32_t workers, const OutputPosition* from);
    void begin_tables(const std::vector<OutputTable>& tables);
    void resume(const std::vector<OutputTable>& tables, const OutputPosition& from);
    std::unique_ptr<AppendedFile> open(const OutputTable& table, AppendedFile::Open how) const;
    void write_waiting(VirtualTime bound);
    void flush();

    RowSpool* spool_ = nullptr;
    std::string directory_;
    std::vector<std::uint64_t> cut_to_;                 // by table, until begin()
    std::vector<std::unique_ptr<AppendedFile>> files_;  // by table
    ColumnKinds kinds_;
    std::string line_;  // of write(), kept for its memory
    std::unique_ptr<std::atomic<VirtualTime>[]> bounds_;
    std::uint32_t workers_;
    std::mutex mutex_;
    std::vector<Row> waiting_;
    VirtualTime written_below_ = 0;
};

}  // namespace nw
