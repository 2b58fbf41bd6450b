// One of the two buffers of a bottom half: wire events one after another, in the mail areas of the
// group's slot (numa/region/slot_layout.hpp) for as long as they fit.
//
//     home    the small area, 64 KiB at the slot's start
//     large   the large area, 1/16 of the slot, for what does not fit at home
//     libc    libc's memory, doubled when full: for what does not fit there, either, and for
//             everything with --memory libc
//
// What is in it is copied when it moves up, so that it stays contiguous. It moves home again, and the
// large pages go back to the kernel, when home would have done for many eras in a row. Every page is
// covered by a mark of MailPages before it is written, in any thread.
//
// One thread at a time: its user's lock or ownership sees to that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "numa/region/mail_pages.hpp"

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

    // Throws std::bad_alloc, and then is as before.
    void append(const std::byte* bytes, std::size_t size, MailPages& pages) {
        if (size > ready_ - used_) [[unlikely]]
            make_ready(used_ + size, pages);
        std::memcpy(bytes_ + used_, bytes, size);
        used_ += size;
    }

    // Ends the era of what is in it. Thread: the group's owner.
    void clear(MailPages& pages) noexcept {
        if (capacity_ > SlotLayout::mail_small_bytes) [[unlikely]]
            reconsider_storage(pages);
        used_ = 0;
    }

    // Empties it and gives all its memory back. Thread: the group's owner.
    void release(MailPages& pages) noexcept;

    MailBufferId id() const noexcept { return id_; }

    // Where its bytes lie, and how far the marks cover them. Thread: who holds it.
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
    std::size_t ready_ = 0;  // can be written without further ado: marked, or libc's
    std::size_t capacity_ = 0;
    std::uint16_t calm_eras_ = 0;  // in a row that home would have done for
    MailBufferId id_;
    Storage storage_ = Storage::home;
};

}  // namespace nw
