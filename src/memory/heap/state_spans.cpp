// SPDX-License-Identifier: Apache-2.0
#include "memory/heap/state_spans.hpp"

#include <cstring>

#include "util/check.hpp"

namespace nw {
namespace {

constexpr std::uint64_t span_magic = 0x9A5C'E11B'10C5'57A7;
constexpr std::uint64_t segment_magic = 0x1A26'EB10'C55E'6D3B;

std::uintptr_t span_address(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{span_bytes - 1};
}

}  // namespace

Block* StateSpans::allocate_block(std::size_t bytes) noexcept {
    const std::size_t wanted = (bytes + unit_bytes - 1) / unit_bytes;
    if (wanted > units - next_unit_) {
        // The rest of the old span is not used again. This costs only addresses, because the pages
        // of the rest were never touched.
        auto* const base = segments_.allocate_segment(span_bytes, SegmentKind::state);
        if (base == nullptr) return nullptr;
        span_ = static_cast<SpanHeader*>(base);
        span_->magic = span_magic ^ span_address(base);
        std::memset(span_->block_at, 0, sizeof span_->block_at);
        next_unit_ = header_units;
    }
    const std::size_t first = next_unit_;
    next_unit_ += wanted;
    used_bytes_ += wanted * unit_bytes;
    for (std::size_t unit = first; unit < next_unit_; ++unit)
        span_->block_at[unit] = static_cast<std::uint16_t>(first);
    return reinterpret_cast<Block*>(reinterpret_cast<std::byte*>(span_) + first * unit_bytes);
}

Block* StateSpans::allocate_segment_block(std::size_t data_offset,
                                          std::size_t data_bytes) noexcept {
    auto* const base = static_cast<std::byte*>(segments_.allocate_segment(
        segment_block_offset + data_offset + data_bytes, SegmentKind::state));
    if (base == nullptr) return nullptr;
    used_bytes_ += segment_block_offset + data_offset + data_bytes;
    const std::uint64_t magic = segment_magic ^ span_address(base);
    std::memcpy(base, &magic, sizeof magic);
    return reinterpret_cast<Block*>(base + segment_block_offset);
}

void StateSpans::discard(std::byte* data, std::size_t bytes) noexcept {
    const std::uintptr_t begin =
        (reinterpret_cast<std::uintptr_t>(data) + page_bytes - 1) & ~(page_bytes - 1);
    const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) & ~(page_bytes - 1);
    if (begin < end) segments_.discard(reinterpret_cast<void*>(begin), end - begin);
}

void StateSpans::validate() const {
    NW_CHECK(next_unit_ <= units);
    bool has_current = span_ == nullptr;
    std::size_t used_units = 0;
    for (const Segment& segment : segments_.entries()) {
        if (segment.kind != SegmentKind::state) continue;
        const std::uintptr_t base = span_address(segment.base);
        std::uint64_t magic = 0;
        std::memcpy(&magic, segment.base, sizeof magic);
        if (magic == (segment_magic ^ base)) continue;
        NW_CHECK(magic == (span_magic ^ base));
        const auto& span = *reinterpret_cast<const SpanHeader*>(segment.base);
        has_current |= &span == span_;
        // Blocks follow one another behind the table; only the rest of the span belongs to no
        // block.
        bool is_rest = false;
        for (std::size_t unit = 0; unit < units; ++unit) {
            const std::size_t first = span.block_at[unit];
            is_rest |= unit >= header_units && first == 0;
            NW_CHECK((first == 0) == (is_rest || unit < header_units));
            if (first == 0) continue;
            NW_CHECK(first == unit || first == span.block_at[unit - 1]);
            ++used_units;
            NW_CHECK(&span != span_ || unit < next_unit_);
        }
    }
    NW_CHECK(has_current);
    NW_CHECK(used_units * unit_bytes <= used_bytes_);
}

Block* StateSpans::find(const void* address) noexcept {
    if (Region::contains(address) && !Region::is_open(address)) return nullptr;
    return find_open(address);
}

// The address may be any address that a handler frees. So the 64 KiB that contain it may be mail,
// to which other threads are writing. The value that is read from mail is never a span's magic
// number.
[[gnu::no_sanitize_thread]] Block* StateSpans::find_open(const void* address) noexcept {
    const std::uintptr_t base = span_address(address);
    std::uint64_t magic = 0;
    std::memcpy(&magic, reinterpret_cast<const void*>(base), sizeof magic);
    if (magic == (span_magic ^ base)) [[likely]] {
        const auto* const span = reinterpret_cast<const SpanHeader*>(base);
        const std::size_t unit = (reinterpret_cast<std::uintptr_t>(address) - base) / unit_bytes;
        const std::size_t first = span->block_at[unit];
        return first == 0 ? nullptr : reinterpret_cast<Block*>(base + first * unit_bytes);
    }
    if (magic == (segment_magic ^ base))
        return reinterpret_cast<Block*>(base + segment_block_offset);
    return nullptr;
}

}  // namespace nw
