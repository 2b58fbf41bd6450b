// SPDX-License-Identifier: Apache-2.0
#include "event/mail_buffer.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "util/meter_marks.hpp"

namespace nw {

void MailBuffer::grow(std::size_t needed) {
    constexpr std::size_t page = 4096;
    std::size_t capacity = capacity_ == 0 ? page : capacity_ * 2;
    while (capacity < needed) capacity *= 2;
    auto* bytes = static_cast<std::byte*>(std::aligned_alloc(page, capacity));
    if (bytes == nullptr) throw std::bad_alloc();
    meter_memory<MeterKind::mail>(bytes, capacity);
    if (used_ > 0) std::memcpy(bytes, bytes_, used_);
    std::free(bytes_);
    bytes_ = bytes;
    capacity_ = capacity;
}

}  // namespace nw
