// SPDX-License-Identifier: Apache-2.0
// A growing sequence of wire events in page-aligned memory. The capacity is doubled when needed and
// never shrinks. An unused buffer has no memory. Used by one thread at a time, which the caller
// guarantees by a lock or by ownership.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "event/wire_event.hpp"

namespace nw {

class MailBuffer {
  public:
    MailBuffer() = default;
    ~MailBuffer() { std::free(bytes_); }
    MailBuffer(MailBuffer&& other) noexcept { swap(*this, other); }
    MailBuffer& operator=(MailBuffer&& other) noexcept {
        swap(*this, other);
        return *this;
    }

    const std::byte* data() const noexcept { return bytes_; }
    std::size_t size() const noexcept { return used_; }
    std::size_t capacity() const noexcept { return capacity_; }
    bool empty() const noexcept { return used_ == 0; }

    // Appends one wire event and its payload (null: no payload). If the model's payload pointer is
    // invalid, the copy faults and the buffer is unchanged.
    void append(const WireEvent& header, const std::byte* payload) {
        std::byte* at = room_for(header.bytes());
        std::memcpy(at, &header, sizeof header);
        if (payload != nullptr) std::memcpy(at + sizeof header, payload, header.payload_bytes);
        used_ += header.bytes();
    }

    // Appends a sequence of complete wire events.
    void append(const std::byte* bytes, std::size_t size) {
        std::memcpy(room_for(size), bytes, size);
        used_ += size;
    }

    void clear() noexcept { used_ = 0; }
    void truncate(std::size_t size) noexcept { used_ = size; }

    friend void swap(MailBuffer& a, MailBuffer& b) noexcept {
        std::swap(a.bytes_, b.bytes_);
        std::swap(a.used_, b.used_);
        std::swap(a.capacity_, b.capacity_);
    }

  private:
    std::byte* room_for(std::size_t size) {
        if (used_ + size > capacity_) [[unlikely]]
            grow(used_ + size);
        return bytes_ + used_;
    }

    void grow(std::size_t needed);

    std::byte* bytes_ = nullptr;
    std::size_t used_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace nw
