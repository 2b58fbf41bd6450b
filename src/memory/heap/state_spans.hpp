// SPDX-License-Identifier: Apache-2.0
// The LPs of a group share its state segments: spans of 64 KiB, cut into blocks in the order of the
// requests. A block belongs to one LP and contains chunks of one size. LPs that are constructed in
// sequence have adjacent objects, and small LPs share pages.
//
// A span begins with a table. For each 64 bytes of the span, the table contains the block to which
// these bytes belong. So the block, the owner and the number of a chunk follow from any address in
// the chunk by masking and two loads. A block that is too large for a span has a separate segment,
// which is found by the same mask.
//
// A block stays with its LP until the group ends. This makes restoring exact: memory that was freed
// after a snapshot still exists, at the same address, when the snapshot is restored.
// Thread: one owner.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/region/segments.hpp"

namespace nw {

class LpHeap;

// The head of every block. Only the owner writes it.
struct Block {
    LpHeap* owner;
    std::uint64_t free_mask;    // small: bit i set iff chunk i is free; large: 0
    std::uint32_t index;        // in its bin, or in the table of large blocks
    std::uint8_t small_class;   // or large_class
    std::uint8_t chunk_count;   // 1 … 64; large: 1
    std::uint16_t data_offset;  // from the block's address to chunk 0

    static constexpr std::uint8_t large_class = 0xFF;

    std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this) + data_offset; }
    const std::byte* data() const noexcept {
        return reinterpret_cast<const std::byte*>(this) + data_offset;
    }
    bool is_large() const noexcept { return small_class == large_class; }
    std::uint64_t full_mask() const noexcept { return ~std::uint64_t{0} >> (64 - chunk_count); }
};
static_assert(sizeof(Block) == 24);

class StateSpans {
  public:
    static constexpr std::size_t unit_bytes = 64;
    static constexpr std::size_t units = span_bytes / unit_bytes;

    struct SpanHeader {
        std::uint64_t magic;  // distinguishes spans from other memory; different for each span
        std::uint16_t block_at[units];  // first unit of the block that contains unit i; 0: none
    };
    static constexpr std::size_t header_units = (sizeof(SpanHeader) + unit_bytes - 1) / unit_bytes;
    // The largest block that fits into a span.
    static constexpr std::size_t block_bytes_max = (units - header_units) * unit_bytes;

    explicit StateSpans(SegmentTable& segments) noexcept : segments_(segments) {}
    StateSpans(const StateSpans&) = delete;
    StateSpans& operator=(const StateSpans&) = delete;

    // Returns an uninitialized block in a span, or nullptr when the slot is full. The block's
    // address is higher than the address of every earlier block, as long as the addresses of
    // segments increase.
    // Requires: bytes ≤ block_bytes_max.
    Block* allocate_block(std::size_t bytes) noexcept;
    // Returns a block in a separate segment, or nullptr when the slot is full. `data_offset` is the
    // offset of the data from the block's address.
    // Requires: data_offset < span_bytes.
    Block* allocate_segment_block(std::size_t data_offset, std::size_t data_bytes) noexcept;

    // Returns to the kernel the whole pages inside [data, data + bytes) of a segment block.
    void discard(std::byte* data, std::size_t bytes) noexcept;

    // The bytes of all blocks, including blocks whose pages were discarded.
    std::size_t used_bytes() const noexcept { return used_bytes_; }

    // The block that contains the address, or nullptr if the address is not in memory of an LP. In
    // a segment block, only addresses in its first 64 KiB are recognized (no chunk begins beyond
    // them).
    // Requires: is_group_memory(address).
    static Block* find(const void* address) noexcept;
    // Like find(). Also requires: the first page of the 64 KiB that contain the address is
    // readable.
    static Block* find_open(const void* address) noexcept;

    // The state outside of the spans. See group_image.hpp.
    void save(Packer& out) const { visit_parts(out, *this); }
    void load(Unpacker& in) { visit_parts(in, *this); }

    // Checks that every state segment is a span with a consistent table, or contains one segment
    // block.
    void validate() const;

    // The offset of a segment block in its segment.
    static constexpr std::size_t segment_block_offset = 64;

  private:
    template <class Part, class Spans>
    static void visit_parts(Part& part, Spans& spans) {
        part(spans.span_);
        part(spans.next_unit_);
        part(spans.used_bytes_);
    }

    SegmentTable& segments_;
    SpanHeader* span_ = nullptr;  // the span from which blocks are cut
    std::size_t next_unit_ = units;
    std::size_t used_bytes_ = 0;
};

// True if the address lies in the region, or in a segment from libc. Only in this case may the 64
// KiB that contain the address be read.
// Thread: any; for any address.
inline bool is_group_memory(const void* address) noexcept {
    return Region::contains(address) || LibcSegments::contains(address);
}

}  // namespace nw
