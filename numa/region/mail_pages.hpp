// The pages of a group's mail: where its two buffers lie in the slot, and how much of each area has
// been written. The bottom half (event/bottom_half.hpp) fills them; here they are only addresses, so
// that the migration daemon can move them and the placement probe can ask for them.
//
// An area's mark says that no page behind it is in memory. Who holds a buffer raises its marks
// before it writes, gives pages back and then lowers them; anybody may read them at any time and
// then sees too much or too little by what is happening just now, which costs the daemon a page that
// is not there, or one that it finds a period later.
//
// Small areas are open with their slot (region.hpp). Large ones are opened in steps by who holds the
// buffer, whichever worker that is, and closed when they are given back.
//
// With --memory libc there are no areas, and mail lies in libc's memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "numa/region/segments.hpp"
#include "numa/region/slot_layout.hpp"

namespace nw {

class MailPages {
  public:
    explicit MailPages(SegmentTable& segments) noexcept;
    ~MailPages();  // gives everything back
    MailPages(const MailPages&) = delete;
    MailPages& operator=(const MailPages&) = delete;

    // Always the same; empty with --memory libc.
    std::span<std::byte> area(MailBufferId buffer, MailArea area) const noexcept;

    // --- Thread: who holds the buffer ---

    // Whole pages of the area that are covered by its mark, in bytes.
    std::size_t touched_bytes(MailBufferId buffer, MailArea area) const noexcept {
        return page_bytes * mark(buffer, area).load(std::memory_order_relaxed);
    }
    // Requires: bytes ≤ the area's size; call it before they are written. Ensures:
    // touched_bytes() ≥ bytes, which is returned; or nothing, and returns 0, when the kernel does not
    // open the pages.
    std::size_t touch(MailBufferId buffer, MailArea area, std::size_t bytes) noexcept;
    // Gives the pages back to the kernel, unless they are part of a huge page that holds other
    // things, too. Thread: moreover the group's owner. Cost: a system call if there are any.
    void give_back(MailBufferId buffer, MailArea area) noexcept;

    // Memory of libc's that was taken for mail which did not even fit the large area.
    void note_spilled(std::size_t bytes) noexcept {
        spilled_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }

    // --- Thread: any ---

    // How often a mark was raised, modulo 2^32: unchanged means that no page has been touched for the
    // first time since. Whoever reads this and then the marks sees no mark that is older than it.
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

    // No mark is beyond its area.
    void validate() const;

    // Since the group was built.
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
    // How much of each large area may be touched. Used by the holder of the buffer only.
    std::array<std::size_t, 2> open_bytes_{};
    std::array<std::array<Mark, 2>, 2> marks_{};  // by buffer and area
    std::atomic<std::uint32_t> growths_{0};
    std::atomic<std::uint64_t> spilled_bytes_{0};
};

}  // namespace nw
