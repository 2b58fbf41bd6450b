// SPDX-License-Identifier: Apache-2.0
// One of the two buffers of a bottom half: consecutive wire events. The buffer uses the first of
// these places that is large enough (memory/region/slot_layout.hpp):
//
//     home    the small area, 64 KiB at the start of the group's slot
//     large   the large area, 1/16 of the slot
//     libc    memory of libc, doubled when full; the only place with --memory libc
//
// When the buffer moves to a larger place, its content is copied, so that it stays contiguous.
// After many consecutive eras that have each used at most half of the small area, the buffer
// returns home, and the pages of the large area return to the kernel. Before any thread writes to a
// page of the slot, a mark of MailPages covers the page.
//
// Used by one thread at a time, which the caller guarantees by a lock or by ownership.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "memory/region/mail_pages.hpp"

namespace nw {

class SlotBuffer {
  public:
    SlotBuffer(MailPages& pages, MailBufferId id) noexcept : id_(id) { settle_at_home(pages); }
    ~SlotBuffer();
    SlotBuffer(const SlotBuffer&) = delete;
    SlotBuffer& operator=(const SlotBuffer&) = delete;

    const std::byte* data() const noexcept { return bytes_; }
    std::size_t size() const noexcept { return used_; }
    bool empty() const noexcept { return used_ == 0; }

    // Throws std::bad_alloc; the buffer is then unchanged.
    void append(const std::byte* bytes, std::size_t size, MailPages& pages) {
        if (size > ready_ - used_) [[unlikely]]
            make_ready(used_ + size, pages);
        std::memcpy(bytes_ + used_, bytes, size);
        used_ += size;
    }

    // Empties the buffer at the end of its era. Thread: the group's owner.
    void clear(MailPages& pages) noexcept {
        if (capacity_ > SlotLayout::mail_small_bytes) [[unlikely]]
            reconsider_storage(pages);
        used_ = 0;
    }

    // Empties the buffer and releases all its memory. Thread: the group's owner.
    void release(MailPages& pages) noexcept;

    MailBufferId id() const noexcept { return id_; }

    // Checks the place of the bytes and the marks of their pages. Thread: the user of the buffer.
    void validate(const MailPages& pages) const;

    friend void swap(SlotBuffer& a, SlotBuffer& b) noexcept {
        std::swap(a.bytes_, b.bytes_);
        std::swap(a.used_, b.used_);
        std::swap(a.ready_, b.ready_);
        std::swap(a.capacity_, b.capacity_);
        std::swap(a.calm_eras_, b.calm_eras_);
        std::swap(a.id_, b.id_);
        std::swap(a.storage_, b.storage_);
    }

  private:
    enum class Storage : std::uint8_t { home, large, libc };

    void settle_at_home(MailPages& pages) noexcept;
    void make_ready(std::size_t needed, MailPages& pages);
    bool move_to_large(std::size_t needed, MailPages& pages) noexcept;
    void move_to_libc(std::size_t needed, MailPages& pages);
    void reconsider_storage(MailPages& pages) noexcept;
    void leave_for_home(MailPages& pages) noexcept;

    // used_ ≤ ready_ ≤ capacity_
    std::byte* bytes_ = nullptr;
    std::size_t used_ = 0;
    std::size_t ready_ = 0;  // can be written at once: covered by a mark, or memory of libc
    std::size_t capacity_ = 0;
    std::uint16_t calm_eras_ = 0;  // consecutive eras that used at most half of the small area
    MailBufferId id_;
    Storage storage_ = Storage::home;
};

}  // namespace nw
