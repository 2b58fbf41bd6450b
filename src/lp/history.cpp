// SPDX-License-Identifier: Apache-2.0
#include "lp/history.hpp"

#include <bit>
#include <cstring>

#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {

void History::grow(std::uint32_t stride, PlatformHeap& heap) {
    const std::uint32_t capacity = this->capacity() == 0 ? 1 : this->capacity() * 2;
    auto* entries = static_cast<std::byte*>(heap.allocate(std::size_t{capacity} * stride));
    meter_memory<MeterKind::history>(entries, std::size_t{capacity} * stride);
    heap.count_history(ring_bytes(capacity, stride));
    for (Ordinal p = head_; p != tail_; ++p)
        std::memcpy(entries + std::size_t{p & (capacity - 1)} * stride, &at(p, stride), stride);
    release(stride, heap);
    entries_ = entries;
    mask_ = capacity - 1;
}

void History::validate() const {
    NW_CHECK((entries_ == nullptr) == (capacity() == 0));
    NW_CHECK(capacity() == 0 || std::has_single_bit(capacity()));
    NW_CHECK(size() <= capacity());
}

}  // namespace nw
