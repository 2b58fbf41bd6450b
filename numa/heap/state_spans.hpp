// How the LPs of a group share its state segments: spans of 64 KiB, cut into blocks for one LP and
// one chunk size each, in the order in which they are asked for. LPs that are built one after the
// other have their objects side by side; 65,536 small LPs need no page each.
//
// A span begins with a table that gives for each 64 bytes the block they belong to: from any
// address of a chunk the block, the owner and the chunk's number follow by masking and two loads.
// A block too large for a span has a segment of its own with the block at the same mask.
//
// A block stays with its LP until the group ends. That is what makes restoring exact: memory freed
// after a snapshot is still there, at its address, when the snapshot is brought back.
// One owner thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numa/region/segments.hpp"

namespace nw {

class LpHeap;

// Heads every block. Written by the owner only.
struct Block {
    LpHeap* owner;
    std::uint64_t free_mask;    // small: bit i set iff chunk i is free; large: 0
    std::uint32_t index;        // in its bin, or in the table of large blocks
    std::uint8_t small_class;   // or large_class
    std::uint8_t chunk_count;   // 1 … 64; large: 1
    std::uint16_t data_offset;  // of chunk 0 from the block's address

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
        std::uint64_t magic;  // tells spans from foreign memory; differs from span to span
        std::uint16_t block_at[units];  // first unit of the block that unit i belongs to; 0: none
    };
    static constexpr std::size_t header_units = (sizeof(SpanHeader) + unit_bytes - 1) / unit_bytes;
    // The largest block that fits into a span.
    static constexpr std::size_t block_bytes_max = (units - header_units) * unit_bytes;

    explicit StateSpans(SegmentTable& segments) noexcept : segments_(segments) {}
    StateSpans(const StateSpans&) = delete;
    StateSpans& operator=(const StateSpans&) = delete;

    // An uninitialised block in a span, at a higher address than every one before it in the same
    // segment order; nullptr when the slot is full. Requires: bytes ≤ block_bytes_max.
    Block* allocate_block(std::size_t bytes) noexcept;
    // A block in a segment of its own. `data_offset` is where its data will begin.
    // Requires: data_offset < span_bytes.
    Block* allocate_segment_block(std::size_t data_offset, std::size_t data_bytes) noexcept;

    // Gives the whole pages inside [data, data + bytes) of a segment block back to the kernel.
    void discard(std::byte* data, std::size_t bytes) noexcept;

    // The bytes of all blocks; one whose pages were discarded still counts.
    std::size_t used_bytes() const noexcept { return used_bytes_; }

    // The block that the address lies in, or nullptr if it is no LP's memory. For a segment block
    // only addresses in its first 64 KiB are recognised (a chunk begins nowhere else).
    // Requires: is_group_memory(address).
    static Block* find(const void* address) noexcept;
    // The same. Requires moreover: the address's 64 KiB begin with a page that may be looked at.
    static Block* find_open(const void* address) noexcept;

    // What is not in the spans themselves. See group_image.hpp.
    void save(Packer& out) const { visit_parts(out, *this); }
    void load(Unpacker& in) { visit_parts(in, *this); }

    // Every state segment is a span with a table that makes sense, or a block.
    void validate() const;

    // Where the block of a segment block lies in its segment.
    static constexpr std::size_t segment_block_offset = 64;

  private:
    template <class Part, class Spans>
    static void visit_parts(Part& part, Spans& spans) {
        part(spans.span_);
        part(spans.next_unit_);
        part(spans.used_bytes_);
    }

    SegmentTable& segments_;
    SpanHeader* span_ = nullptr;  // the one being cut
    std::size_t next_unit_ = units;
    std::size_t used_bytes_ = 0;
};

// True if the address lies in the region, or in a segment from libc: only then may its 64 KiB be
// looked at. Safe from any thread, for any address.
inline bool is_group_memory(const void* address) noexcept {
    return Region::contains(address) || LibcSegments::contains(address);
}

}  // namespace nw
