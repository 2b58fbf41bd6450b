// SPDX-License-Identifier: Apache-2.0
#include "results/formats/hdf5_table.hpp"

#include <charconv>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "results/formats/hdf5_handle.hpp"
#include "results/output/column_kinds.hpp"
#include "results/output/csv.hpp"
#include "util/check.hpp"
#include "util/version.hpp"

namespace nw {

namespace {

// A chunk of numbers takes 128 KiB: large enough to compress well, small enough to read a part of a
// column.
constexpr hsize_t chunk_rows = 16 * 1024;
// Rows are written before a chunk is full if their texts take more than this size.
constexpr std::size_t texts_bytes_max = std::size_t{16} << 20;
// With the shuffle filter, which stores bytes of equal weight together, low levels compress nearly
// as well as the highest level, in much less time.
constexpr unsigned deflate_level = 4;

Hdf5Handle text_type(const std::string& path) {
    Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, path);
    checked_hdf5(H5Tset_size(type, H5T_VARIABLE), path);
    checked_hdf5(H5Tset_cset(type, H5T_CSET_UTF8), path);
    return type;
}

// Converts a cell that the engine wrote as a number.
template <class Number>
Number number_in(const std::string& cell, const std::string& column, const std::string& path) {
    Number number{};
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    if (error != std::errc{} || end != cell.data() + cell.size())
        throw MachineError(
            fmt::format("writing {} failed: in column {} of the CSV file, \"{}\" is not a number",
                        path, column, cell));
    return number;
}

// A dataset, and the cells that have not been written to it yet.
class Column {
  public:
    Column(hid_t group, const std::string& name, ColumnType type, const std::string& path)
        : name_(name),
          path_(path),
          type_(type),
          memory_type_(type == ColumnType::text      ? text_type(path)
                       : type == ColumnType::integer ? copy_of(H5T_NATIVE_INT64, path)
                       : type == ColumnType::natural ? copy_of(H5T_NATIVE_UINT64, path)
                                                     : copy_of(H5T_NATIVE_DOUBLE, path)),
          dataset_(create(group)) {}

    void add(const std::string& cell) {
        switch (type_) {
            case ColumnType::integer:
                integers_.push_back(number_in<std::int64_t>(cell, name_, path_));
                break;
            case ColumnType::natural:
                naturals_.push_back(number_in<std::uint64_t>(cell, name_, path_));
                break;
            case ColumnType::real:
                reals_.push_back(cell.empty() ? std::numeric_limits<double>::quiet_NaN()
                                              : number_in<double>(cell, name_, path_));
                break;
            case ColumnType::text:
                text_at_.push_back(texts_.size());
                texts_.append(cell.c_str(), cell.size() + 1);
                break;
        }
    }

    std::size_t texts_bytes() const noexcept { return texts_.size(); }

    // Writes the `count` waiting cells to `count` rows, beginning with row `from`.
    void write(hsize_t from, hsize_t count) {
        const hsize_t rows = from + count;
        checked_hdf5(H5Dset_extent(dataset_, &rows), path_);
        const Hdf5Handle in_file(H5Dget_space(dataset_), H5Sclose, path_);
        const Hdf5Handle in_memory(H5Screate_simple(1, &count, nullptr), H5Sclose, path_);
        checked_hdf5(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &from, nullptr, &count, nullptr),
                     path_);
        checked_hdf5(H5Dwrite(dataset_, memory_type_, in_memory, in_file, H5P_DEFAULT, cells()),
                     path_);
        integers_.clear();
        naturals_.clear();
        reals_.clear();
        texts_.clear();
        text_at_.clear();
    }

    void close() { dataset_.close(path_); }

  private:
    static Hdf5Handle copy_of(hid_t type, const std::string& path) {
        return {H5Tcopy(type), H5Tclose, path};
    }

    Hdf5Handle create(hid_t group) const {
        const hsize_t none = 0;
        const hsize_t unlimited = H5S_UNLIMITED;
        const Hdf5Handle space(H5Screate_simple(1, &none, &unlimited), H5Sclose, path_);
        const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path_);
        checked_hdf5(H5Pset_chunk(properties, 1, &chunk_rows), path_);
        checked_hdf5(H5Pset_shuffle(properties), path_);
        checked_hdf5(H5Pset_deflate(properties, deflate_level), path_);
        // No time stamps: equal tables give equal files.
        checked_hdf5(H5Pset_obj_track_times(properties, false), path_);
        return {H5Dcreate2(group, name_.c_str(), memory_type_, space, H5P_DEFAULT, properties,
                           H5P_DEFAULT),
                H5Dclose, path_};
    }

    const void* cells() {
        switch (type_) {
            case ColumnType::integer:
                return integers_.data();
            case ColumnType::natural:
                return naturals_.data();
            case ColumnType::real:
                return reals_.data();
            case ColumnType::text:
                break;
        }
        text_pointers_.clear();
        for (const std::size_t at : text_at_) text_pointers_.push_back(texts_.data() + at);
        return text_pointers_.data();
    }

    const std::string& name_;
    const std::string& path_;
    const ColumnType type_;
    Hdf5Handle memory_type_;
    Hdf5Handle dataset_;
    // The column's type determines which of these members are used.
    std::vector<std::int64_t> integers_;
    std::vector<std::uint64_t> naturals_;
    std::vector<double> reals_;
    std::string texts_;                 // each ends with a zero byte
    std::vector<std::size_t> text_at_;  // where each text begins
    std::vector<const char*> text_pointers_;
};

void write_attribute(hid_t group, const char* name, hid_t type, hid_t space, const void* value,
                     const std::string& path) {
    const Hdf5Handle attribute(H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose, path);
    checked_hdf5(H5Awrite(attribute, type, value), path);
}

void write_attributes(hid_t group, const OutputTable& table, const TableOrigin& origin,
                      const std::string& path) {
    const Hdf5Handle text = text_type(path);
    const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose, path);
    const auto write_text = [&](const char* name, const char* value) {
        write_attribute(group, name, text, scalar, &value, path);
    };
    const hsize_t count = table.columns.size();
    const Hdf5Handle list(H5Screate_simple(1, &count, nullptr), H5Sclose, path);
    std::vector<const char*> columns;
    for (const std::string& column : table.columns) columns.push_back(column.c_str());
    write_attribute(group, "columns", text, list, columns.data(), path);
    write_text("model", origin.model.c_str());
    write_attribute(group, "seed", H5T_NATIVE_UINT64, scalar, &origin.seed, path);
    write_text("digest", origin.digest.c_str());
    write_text("commit", built_commit);
    write_text("version", version);
}

void copy_rows(const std::string& csv_path, std::vector<Column>& columns) {
    CsvRows rows(csv_path);
    std::vector<std::string> cells(columns.size());
    rows.next(cells);  // the names of the columns
    hsize_t written = 0;
    hsize_t waiting = 0;
    const auto write = [&] {
        for (Column& column : columns) column.write(written, waiting);
        written += waiting;
        waiting = 0;
    };
    while (rows.next(cells)) {
        std::size_t texts_bytes = 0;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            columns[c].add(cells[c]);
            texts_bytes += columns[c].texts_bytes();
        }
        ++waiting;
        if (waiting == chunk_rows || texts_bytes > texts_bytes_max) write();
    }
    if (waiting > 0) write();
}

}  // namespace

std::string hdf5_refusal(const OutputTable& table) {
    if (std::string other = other_hdf5_version(); !other.empty()) return other;
    if (table.name == ".") return "the name of a table must not be \".\"";
    std::set<std::string_view> names;
    for (const std::string& name : table.columns)
        if (name.empty() || name == "." || name.find('/') != std::string::npos ||
            !names.insert(name).second)
            return fmt::format("column \"{}\" of table {}: HDF5 requires distinct names without /",
                               name, table.name);
    return {};
}

void write_hdf5_table(const std::string& path, const WholeTable& whole) {
    const OutputTable& table = whole.table;
    prepare_hdf5();
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path);
    // No locks: parallel file systems often have none, and no other process uses this file.
    checked_hdf5(H5Pset_file_locking(access, false, true), path);
    Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, path);
    Hdf5Handle group(H5Gcreate2(file, table.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Gclose, path);
    write_attributes(group, table, whole.origin, path);
    std::vector<Column> columns;
    columns.reserve(table.columns.size());
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        columns.emplace_back(group, table.columns[c], column_type(whole.kinds[c]), path);
    copy_rows(whole.csv_path, columns);
    for (Column& column : columns) column.close();
    group.close(path);
    file.close(path);
}

}  // namespace nw
