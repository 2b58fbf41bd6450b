#include "output/output_writer.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "base/check.hpp"
#include "file/disk.hpp"

namespace nw {
namespace {

// A merge of everything that waits is worth its cost from this many rows on. Unmeasured guess.
constexpr std::size_t rows_worth_writing = 4096;

// What is kept of a file's end to know it again: some rows.
constexpr std::size_t end_bytes = 256;

std::string end_of(const AppendedFile& file, std::uint64_t bytes) {
    const std::uint64_t count = std::min<std::uint64_t>(bytes, end_bytes);
    return file.read(bytes - count, count);
}

}  // namespace

OutputWriter::OutputWriter(RowSpool& spool, std::uint32_t workers)
    : spool_(&spool),
      bounds_(std::make_unique<std::atomic<VirtualTime>[]>(workers)),
      workers_(workers) {}

OutputWriter::OutputWriter(const std::vector<OutputTable>& tables, const std::string& directory,
                           std::uint32_t workers)
    : OutputWriter(tables, directory, workers, nullptr) {}

OutputWriter::OutputWriter(const std::vector<OutputTable>& tables, const std::string& directory,
                           std::uint32_t workers, const OutputPosition& from)
    : OutputWriter(tables, directory, workers, &from) {}

OutputWriter::OutputWriter(const std::vector<OutputTable>& tables, const std::string& directory,
                           std::uint32_t workers, const OutputPosition* from)
    : directory_(directory),
      bounds_(std::make_unique<std::atomic<VirtualTime>[]>(workers)),
      workers_(workers) {
    if (directory.empty()) return;
    if (from == nullptr)
        begin_tables(tables);
    else
        resume(tables, *from);
}

void OutputWriter::begin_tables(const std::vector<OutputTable>& tables) {
    for (const OutputTable& table : tables) {
        files_.push_back(open(table, AppendedFile::Open::empty));
        kinds_.emplace_back(table.columns.size());
        line_.clear();
        append_csv_header(line_, table.columns);
        files_.back()->append(line_);
    }
    flush();
}

void OutputWriter::resume(const std::vector<OutputTable>& tables, const OutputPosition& from) {
    NW_CHECK(from.table_bytes.size() == tables.size());
    NW_CHECK(from.table_ends.size() == tables.size());
    NW_CHECK(from.column_kinds.size() == tables.size());
    for (std::size_t t = 0; t < tables.size(); ++t) {
        files_.push_back(open(tables[t], AppendedFile::Open::as_it_is));
        const AppendedFile& file = *files_.back();
        const std::uint64_t wanted = from.table_bytes[t];
        const auto refuse = [&](const std::string& what) {
            throw SetupError(fmt::format(
                "--output {}: {} {}; legal: the folder and files that the saved run has "
                "left",
                directory_, file.path(), what));
        };
        if (file.bytes() < wanted)
            refuse(fmt::format("has {} bytes, and had {} when the run was saved", file.bytes(),
                               wanted));
        if (end_of(file, wanted) != from.table_ends[t])
            refuse("is not the file that the saved run has written");
    }
    cut_to_ = from.table_bytes;
    kinds_ = from.column_kinds;
}

void OutputWriter::begin() {
    for (std::size_t t = 0; t < cut_to_.size(); ++t) files_[t]->truncate(cut_to_[t]);
    cut_to_.clear();
}

std::unique_ptr<AppendedFile> OutputWriter::open(const OutputTable& table,
                                                 AppendedFile::Open how) const {
    const std::string path = directory_ + "/" + table.name + ".csv";
    try {
        return std::make_unique<AppendedFile>(path, how);
    } catch (const std::system_error& error) {
        const bool anew = how == AppendedFile::Open::empty;
        throw SetupError(fmt::format("--output {}: cannot {} {}: {}; legal: {}", directory_,
                                     anew ? "write" : "go on with", path, error.code().message(),
                                     anew ? "a directory that can be written"
                                          : "the folder and files that the saved run has left"));
    }
}

void OutputWriter::hand_over(std::uint32_t worker, std::vector<Row>& rows, VirtualTime bound) {
    if (rows.empty() || !wanted()) {
        rows.clear();
        bounds_[worker].store(bound, std::memory_order_release);
        return;
    }
    const std::lock_guard lock(mutex_);
    std::move(rows.begin(), rows.end(), std::back_inserter(waiting_));
    rows.clear();
    // Not before the rows are here: whoever sees the bound may write what lies below it.
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
    // Rows of one event came from one worker in their order: a stable sort keeps it.
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Row& a, const Row& b) { return before(a.key, b.key); });
    auto end = std::find_if(waiting_.begin(), waiting_.end(),
                            [&](const Row& row) { return row.key.time >= bound; });
    for (auto row = waiting_.begin(); row != end; ++row) write(*row);
    waiting_.erase(waiting_.begin(), end);
}

void OutputWriter::write(const Row& row) {
    if (spool_ != nullptr) {
        spool_->write(row);
    } else if (wanted()) {
        line_.clear();
        append_csv(line_, row.values, kinds_[row.table]);
        files_[row.table]->append(line_);
    }
}

OutputPosition OutputWriter::sync(VirtualTime bound) {
    NW_CHECK(written_below_ <= bound);
    write_waiting(bound);
    flush();
    OutputPosition position;
    for (const auto& file : files_) {
        file->sync();
        position.table_bytes.push_back(file->bytes());
        position.table_ends.push_back(end_of(*file, file->bytes()));
    }
    position.column_kinds = kinds_;
    return position;
}

void OutputWriter::finish() {
    write_waiting(time_infinity);
    flush();
    for (const auto& file : files_) file->sync();
    if (!files_.empty()) sync_folder(directory_);
}

void OutputWriter::flush() {
    if (spool_ != nullptr) spool_->finish();
    for (const auto& file : files_) file->flush();
}

}  // namespace nw
