#include "engine/row_spool.hpp"

#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "base/check.hpp"

namespace nw {
namespace {

struct RowHeader {
    EventKey key;
    std::uint32_t table;
    std::uint32_t bytes;
};

}  // namespace

RowSpool::RowSpool(const std::string& directory, std::uint32_t rank)
    : path_(fmt::format("{}/.rows-of-rank-{}", directory, rank)),
      file_(path_, std::ios::in | std::ios::out | std::ios::trunc | std::ios::binary) {
    if (!file_.good())
        throw SetupError(fmt::format(
            "--output {}: cannot write {}; legal: a directory that every rank can write", directory,
            path_));
}

RowSpool::~RowSpool() {
    file_.close();
    std::remove(path_.c_str());
}

void RowSpool::write(const OutputRow& row) {
    const RowHeader header{row.key, row.table, static_cast<std::uint32_t>(row.values.size())};
    file_.write(reinterpret_cast<const char*>(&header), sizeof header);
    file_.write(reinterpret_cast<const char*>(row.values.data()),
                static_cast<std::streamsize>(row.values.size()));
}

void RowSpool::finish() {
    file_.flush();
    if (!file_.good())
        throw MachineError(fmt::format("writing {} failed; is the disk full?", path_));
}

std::string RowSpool::read_some(std::size_t bytes_wanted) {
    if (!reading_) file_.seekg(0);
    reading_ = true;
    std::string bytes;
    RowHeader header;
    while (bytes.size() < bytes_wanted &&
           file_.read(reinterpret_cast<char*>(&header), sizeof header)) {
        const std::size_t at = bytes.size();
        bytes.resize(at + sizeof header + header.bytes);
        std::memcpy(bytes.data() + at, &header, sizeof header);
        file_.read(bytes.data() + at + sizeof header, header.bytes);
        if (!file_.good()) throw MachineError(fmt::format("reading {} failed", path_));
    }
    return bytes;
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
