// SPDX-License-Identifier: Apache-2.0
#include "memory/image/group_image.hpp"

#include <cstdint>
#include <string>

#include "memory/heap/piece.hpp"
#include "numa/os/os.hpp"
#include "util/packing.hpp"

namespace nw {
namespace {

// The header of a run of pages that are not zero: the index of the first page in the segment, and
// the number of pages. The pages follow it. A run of 0 pages ends the segment.
struct PageRun {
    std::uint64_t first;
    std::uint64_t pages;
};

void write_pages(const Segment& segment, const WriteBytes& write) {
    const std::size_t pages = segment.bytes / page_bytes;
    const auto page = [&](std::size_t i) { return segment.base + i * page_bytes; };
    const auto is_zero_page = [&](std::size_t i) { return is_zero({page(i), page_bytes}); };
    for (std::size_t i = 0; i < pages;) {
        if (is_zero_page(i)) {
            ++i;
            continue;
        }
        std::size_t end = i + 1;
        while (end < pages && !is_zero_page(end)) ++end;
        const PageRun run{i, end - i};
        write(&run, sizeof run);
        write(page(i), (end - i) * page_bytes);
        i = end;
    }
    const PageRun last{};
    write(&last, sizeof last);
}

void read_pages(const Segment& segment, const ReadBytes& read) {
    for (;;) {
        PageRun run{};
        read(&run, sizeof run);
        if (run.pages == 0) return;
        NW_CHECK(run.first + run.pages <= segment.bytes / page_bytes);
        read(segment.base + run.first * page_bytes, run.pages * page_bytes);
    }
}

}  // namespace

void write_group_memory(const GroupMemory& memory, const WriteBytes& write) {
    Packer tables;
    memory.segments().save(tables);
    memory.platform().save(tables);
    memory.spans().save(tables);
    const std::string bytes = tables.take();
    const std::uint64_t size = bytes.size();
    write(&size, sizeof size);
    write(bytes.data(), bytes.size());
    for (const Segment& segment : memory.segments().entries()) write_pages(segment, write);
}

void read_group_memory(GroupMemory& memory, const ReadBytes& read) {
    std::uint64_t size = 0;
    read(&size, sizeof size);
    std::string bytes(size, '\0');
    read(bytes.data(), bytes.size());
    Unpacker tables(bytes);
    memory.segments().load(tables);
    memory.platform().load(tables);
    memory.spans().load(tables);
    for (const Segment& segment : memory.segments().entries()) read_pages(segment, read);
}

}  // namespace nw
