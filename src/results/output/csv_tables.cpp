// SPDX-License-Identifier: Apache-2.0
#include "results/output/csv_tables.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "results/output/csv.hpp"
#include "util/check.hpp"
#include "util/file/disk.hpp"

namespace nw {
namespace {

// The number of bytes at the end of a file (some rows) that are stored to recognize the file later.
constexpr std::size_t end_bytes = 256;

std::string end_of(const AppendedFile& file, std::uint64_t bytes) {
    const std::uint64_t count = std::min<std::uint64_t>(bytes, end_bytes);
    return file.read(bytes - count, count);
}

}  // namespace

std::string table_file(const std::string& directory, const OutputTable& table,
                       std::string_view ending) {
    return (std::filesystem::path(directory) / table.name).string() + std::string(ending);
}

CsvTables::CsvTables(const std::vector<OutputTable>& tables, const std::string& directory)
    : directory_(directory) {
    for (const OutputTable& table : tables) {
        files_.push_back(open(table, AppendedFile::Open::empty));
        kinds_.emplace_back(table.columns.size());
        line_.clear();
        append_csv_header(line_, table.columns);
        files_.back()->append(line_);
    }
    for (const auto& file : files_) file->flush();
}

CsvTables::CsvTables(const std::vector<OutputTable>& tables, const std::string& directory,
                     const OutputPosition& from)
    : directory_(directory), cut_to_(from.table_bytes), kinds_(from.column_kinds) {
    NW_CHECK(from.table_bytes.size() == tables.size());
    NW_CHECK(from.table_ends.size() == tables.size());
    NW_CHECK(from.column_kinds.size() == tables.size());
    for (std::size_t t = 0; t < tables.size(); ++t) {
        files_.push_back(open(tables[t], AppendedFile::Open::as_it_is));
        const AppendedFile& file = *files_.back();
        const std::uint64_t wanted = from.table_bytes[t];
        const auto refuse = [&](const std::string& what) {
            throw SetupError(fmt::format(
                "--output {}: {} {}; allowed: the folder and files that the saved run wrote",
                directory_, file.path(), what));
        };
        if (file.bytes() < wanted)
            refuse(fmt::format("has {} bytes, but had {} when the run was saved", file.bytes(),
                               wanted));
        if (end_of(file, wanted) != from.table_ends[t])
            refuse("is not the file that the saved run wrote");
    }
}

void CsvTables::begin() {
    for (std::size_t t = 0; t < cut_to_.size(); ++t) files_[t]->truncate(cut_to_[t]);
    cut_to_.clear();
}

std::unique_ptr<AppendedFile> CsvTables::open(const OutputTable& table,
                                              AppendedFile::Open how) const {
    const std::string path = table_file(directory_, table, csv_ending);
    try {
        return std::make_unique<AppendedFile>(path, how);
    } catch (const std::system_error& error) {
        const bool anew = how == AppendedFile::Open::empty;
        throw SetupError(fmt::format(
            "--output {}: cannot {} {}: {}; allowed: {}", directory_, anew ? "write" : "continue",
            path, error.code().message(),
            anew ? "a writable folder" : "the folder and files that the saved run wrote"));
    }
}

void CsvTables::write(const OutputRow& row) {
    line_.clear();
    append_csv(line_, row.values, kinds_[row.table]);
    files_[row.table]->append(line_);
}

OutputPosition CsvTables::sync() {
    OutputPosition position;
    for (const auto& file : files_) {
        file->sync();
        position.table_bytes.push_back(file->bytes());
        position.table_ends.push_back(end_of(*file, file->bytes()));
    }
    position.column_kinds = kinds_;
    return position;
}

void CsvTables::finish() {
    for (const auto& file : files_) file->sync();
    if (!files_.empty()) sync_folder(directory_);
}

}  // namespace nw
