// SPDX-License-Identifier: Apache-2.0
#include "results/output/row_spool.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "util/check.hpp"

namespace nw {
namespace {

struct RowHeader {
    EventKey key;
    std::uint32_t table;
    std::uint32_t bytes;
};

// The size of the first row with its header; 0 if the bytes contain no complete header.
std::size_t row_bytes(std::string_view bytes) {
    RowHeader header;
    if (bytes.size() < sizeof header) return 0;
    std::memcpy(&header, bytes.data(), sizeof header);
    return sizeof header + header.bytes;
}

constexpr std::string_view prefix = ".rows-of-rank-";

}  // namespace

RowSpool::RowSpool(const std::string& directory, std::uint32_t rank) {
    const std::string path = fmt::format("{}/{}{}", directory, prefix, rank);
    try {
        file_ = std::make_unique<AppendedFile>(path, AppendedFile::Open::empty);
    } catch (const std::system_error& error) {
        throw SetupError(fmt::format(
            "--output {}: cannot write {}: {}; allowed: a folder that every rank can write to",
            directory, path, error.code().message()));
    }
}

RowSpool::~RowSpool() { file_->remove(); }

void RowSpool::remove_left_over(const std::string& directory, std::uint32_t ranks) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
        const std::string name = entry.path().filename().string();
        std::uint32_t rank = 0;
        if (!name.starts_with(prefix)) continue;
        const auto [end, trouble] =
            std::from_chars(name.data() + prefix.size(), name.data() + name.size(), rank);
        if (trouble == std::errc{} && end == name.data() + name.size() && rank >= ranks)
            std::filesystem::remove(entry.path(), ignored);
    }
}

void RowSpool::write(const OutputRow& row) {
    const RowHeader header{row.key, row.table, static_cast<std::uint32_t>(row.values.size())};
    file_->append({reinterpret_cast<const char*>(&header), sizeof header});
    file_->append({reinterpret_cast<const char*>(row.values.data()), row.values.size()});
}

void RowSpool::finish() { file_->flush(); }

std::string RowSpool::read_some(std::size_t bytes_wanted) {
    std::string bytes = file_->read(read_bytes_, std::max(bytes_wanted, sizeof(RowHeader)));
    if (const std::size_t first = row_bytes(bytes); first > bytes.size())
        bytes = file_->read(read_bytes_, first);
    std::size_t whole = 0;
    for (std::size_t row = row_bytes(bytes); row > 0 && row <= bytes.size() - whole;
         row = row_bytes(std::string_view(bytes).substr(whole)))
        whole += row;
    if (whole == 0 && read_bytes_ < file_->bytes())
        throw MachineError(fmt::format("reading {} failed: the file is truncated", file_->path()));
    bytes.resize(whole);
    read_bytes_ += whole;
    return bytes;
}

void RowSpool::begin_anew() {
    NW_CHECK(read_bytes_ == file_->bytes());
    file_->truncate(0);
    read_bytes_ = 0;
}

OutputRow RowReader::next() {
    RowHeader header;
    std::memcpy(&header, bytes_.data() + at_, sizeof header);
    at_ += sizeof header;
    const auto* values = reinterpret_cast<const std::byte*>(bytes_.data() + at_);
    at_ += header.bytes;
    return {header.key, header.table, {values, values + header.bytes}};
}

}  // namespace nw
