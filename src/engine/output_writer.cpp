#include "engine/output_writer.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "base/check.hpp"
#include "numa/heap_scope.hpp"

namespace nw {
namespace {

// A merge of everything that waits is worth its cost from this many rows on. Unmeasured guess.
constexpr std::size_t rows_worth_writing = 4096;

void append_quoted(std::string& line, std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos) {
        line += text;
        return;
    }
    line += '"';
    for (const char c : text) {
        if (c == '"') line += '"';
        line += c;
    }
    line += '"';
}

std::string csv_line(const std::byte* at, std::size_t bytes) {
    std::string line;
    const std::byte* const begin = at;
    for (const std::byte* end = at + bytes; at < end;) {
        if (at != begin) line += ',';
        const auto kind = static_cast<OutputValue::Kind>(*at++);
        std::uint64_t word;
        std::memcpy(&word, at, sizeof word);
        at += sizeof word;
        switch (kind) {
            case OutputValue::Kind::integer:
                line += fmt::format("{}", static_cast<std::int64_t>(word));
                break;
            case OutputValue::Kind::real: {
                double real;
                std::memcpy(&real, &word, sizeof real);
                line += fmt::format("{}", real);
                break;
            }
            case OutputValue::Kind::text:
                append_quoted(line, {reinterpret_cast<const char*>(at), word});
                at += word;
                break;
        }
    }
    line += '\n';
    return line;
}

}  // namespace

std::size_t encoded_row_bytes(const std::vector<OutputTable>& tables, std::size_t table,
                              std::span<const OutputValue> row) {
    if (table >= tables.size()) {
        const PlatformScope platform;
        throw ModelError(
            fmt::format("output() to table {}; the model declares {}", table, tables.size()));
    }
    if (row.size() != tables[table].columns.size()) {
        const PlatformScope platform;
        throw ModelError(fmt::format("output() of {} values to table {}, which has {} columns",
                                     row.size(), tables[table].name, tables[table].columns.size()));
    }
    std::size_t bytes = 0;
    for (const OutputValue& value : row) {
        bytes += 1 + sizeof(std::uint64_t);
        if (value.kind == OutputValue::Kind::text) bytes += value.text.size();
    }
    return bytes;
}

void encode_row(std::span<const OutputValue> row, std::byte* to) noexcept {
    for (const OutputValue& value : row) {
        *to++ = static_cast<std::byte>(value.kind);
        std::uint64_t word = 0;
        switch (value.kind) {
            case OutputValue::Kind::integer:
                word = static_cast<std::uint64_t>(value.integer);
                break;
            case OutputValue::Kind::real:
                std::memcpy(&word, &value.real, sizeof word);
                break;
            case OutputValue::Kind::text:
                word = value.text.size();
                break;
        }
        std::memcpy(to, &word, sizeof word);
        to += sizeof word;
        if (value.kind == OutputValue::Kind::text) {
            std::memcpy(to, value.text.data(), value.text.size());
            to += value.text.size();
        }
    }
}

OutputWriter::OutputWriter(RowSpool& spool, std::uint32_t workers)
    : spool_(&spool),
      bounds_(std::make_unique<std::atomic<VirtualTime>[]>(workers)),
      workers_(workers) {}

OutputWriter::OutputWriter(const std::vector<OutputTable>& tables, const std::string& directory,
                           std::uint32_t workers)
    : bounds_(std::make_unique<std::atomic<VirtualTime>[]>(workers)),
      workers_(workers),
      directory_(directory) {
    if (directory.empty()) return;
    for (const OutputTable& table : tables) {
        const std::string path = directory + "/" + table.name + ".csv";
        auto file = std::make_unique<std::ofstream>(path);
        std::string header;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            if (c > 0) header += ',';
            append_quoted(header, table.columns[c]);
        }
        *file << header << '\n';
        if (!file->good())
            throw SetupError("--output " + directory + ": cannot write " + path +
                             "; legal: a directory that can be written");
        files_.push_back(std::move(file));
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
    if (lowest > written_below_) write_below(lowest);
}

void OutputWriter::write_below(VirtualTime bound) {
    written_below_ = bound;
    // Rows of one event came from one worker in their order: a stable sort keeps it.
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const Row& a, const Row& b) { return before(a.key, b.key); });
    auto end = std::find_if(waiting_.begin(), waiting_.end(),
                            [&](const Row& row) { return row.key.time >= bound; });
    for (auto row = waiting_.begin(); row != end; ++row) write(*row);
    waiting_.erase(waiting_.begin(), end);
}

void OutputWriter::write(const Row& row) {
    if (spool_ != nullptr)
        spool_->write(row);
    else if (wanted())
        *files_[row.table] << csv_line(row.values.data(), row.values.size());
}

void OutputWriter::finish() {
    write_below(time_infinity);
    if (spool_ != nullptr) spool_->finish();
    for (auto& file : files_) {
        file->flush();
        if (!file->good())
            throw MachineError("--output " + directory_ + ": writing failed; is the disk full?");
    }
}

}  // namespace nw
