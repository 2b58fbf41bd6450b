// SPDX-License-Identifier: Apache-2.0
// The pages of a group's mail: the addresses of its two buffers in the slot, and how much of each
// area has been written. The bottom half (event/bottom_half.hpp) writes the buffers. This class
// handles only addresses, for the migration daemon, which moves the pages, and for the placement
// probe, which queries them.
//
// Each area has a mark: no page beyond the mark is in memory. The holder of a buffer raises a mark
// before it writes, and returns pages to the kernel before it lowers a mark. Any thread may read a
// mark at any time; a mark that is just being changed may be too high or too low. In this case the
// daemon queries a page that does not exist, or finds a page one period later.
//
// Small areas are open together with their slot (region.hpp). Large areas are opened in steps by
// the worker that holds the buffer, and are closed when their pages are returned.
//
// With --memory libc there are no areas, and mail is in libc's memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/region/segments.hpp"
#include "memory/region/slot_layout.hpp"

namespace nw {

class MailPages {
  public:
    explicit MailPages(SegmentTable& segments) noexcept;
    ~MailPages();  // returns all pages to the kernel
    MailPages(const MailPages&) = delete;
    MailPages& operator=(const MailPages&) = delete;

    // The result never changes; empty with --memory libc.
    std::span<std::byte> area(MailBufferId buffer, MailArea area) const noexcept;

    // --- Thread: the holder of the buffer ---

    // The size of the whole pages of the area below its mark, in bytes.
    std::size_t touched_bytes(MailBufferId buffer, MailArea area) const noexcept {
        return page_bytes * mark(buffer, area).load(std::memory_order_relaxed);
    }
    // Raises the mark, if necessary, so that `bytes` bytes may be written. Call it before writing.
    // Returns touched_bytes(), which is then ≥ bytes. Changes nothing and returns 0 if the kernel
    // refuses to open the pages. Requires: bytes ≤ the area's size.
    std::size_t touch(MailBufferId buffer, MailArea area, std::size_t bytes) noexcept;
    // Returns the area's pages to the kernel, except if they belong to a huge page that also
    // contains other data. Thread: the holder of the buffer, which must also own the group. Cost: a
    // system call if there are such pages.
    void give_back(MailBufferId buffer, MailArea area) noexcept;

    // Counts memory of libc that was allocated for mail because even the large area was too small.
    void note_spilled(std::size_t bytes) noexcept {
        spilled_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }

    // --- Thread: any ---

    // How often a mark was raised, modulo 2^32. If the value is unchanged, no page has been touched
    // for the first time meanwhile. If a thread reads this value and then the marks, the marks are
    // at least as recent as the value.
    std::uint32_t growths() const noexcept { return growths_.load(std::memory_order_acquire); }

    // Calls visit(base, bytes) for each area that was written, with whole pages.
    template <class Visit>
    void for_each_touched_range(Visit&& visit) const {
        for (const MailBufferId buffer : {MailBufferId::a, MailBufferId::b}) {
            for (const MailArea area : {MailArea::small, MailArea::large}) {
                const std::size_t bytes = touched_bytes(buffer, area);
                if (bytes != 0) visit(this->area(buffer, area).data(), bytes);
            }
        }
    }
    std::size_t touched_bytes() const noexcept {
        std::size_t sum = 0;
        for_each_touched_range([&sum](std::byte*, std::size_t bytes) { sum += bytes; });
        return sum;
    }

    // Checks that no mark is beyond its area.
    void validate() const;

    // Sum of note_spilled() since the group was built.
    std::uint64_t spilled_bytes() const noexcept {
        return spilled_bytes_.load(std::memory_order_relaxed);
    }

  private:
    using Mark = std::atomic<std::uint32_t>;  // in pages

    Mark& mark(MailBufferId buffer, MailArea area) noexcept {
        return marks_[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(area)];
    }
    const Mark& mark(MailBufferId buffer, MailArea area) const noexcept {
        return marks_[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(area)];
    }

    bool open_large(MailBufferId buffer, std::size_t bytes) noexcept;

    SegmentTable& segments_;
    // How much of each large area is open. Used only by the holder of the buffer.
    std::array<std::size_t, 2> open_bytes_{};
    std::array<std::array<Mark, 2>, 2> marks_{};  // by buffer and area
    std::atomic<std::uint32_t> growths_{0};
    std::atomic<std::uint64_t> spilled_bytes_{0};
};

}  // namespace nw
