// SPDX-License-Identifier: Apache-2.0
#include "event/slot_buffer.hpp"

#include <cstdlib>
#include <new>

#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

// Number of consecutive calm eras after which a grown buffer returns to its small area. An era is
// the time between two drains. It is calm if the buffer has used at most half of the small area.
// When the buffer returns, it releases the pages of its large area. If the buffer grows again, each
// of these pages costs a page fault. In the worst case, a burst of 256 KiB arrives after each
// return. The 64 pages of the burst then cost 0.06 page faults per era, which take about 0.3 µs. An
// era takes at least one turn of the worker, which takes 12 µs
// (docs/results/constants-2026-11-23.csv).
constexpr std::uint16_t calm_eras_wanted = 1024;

}  // namespace

SlotBuffer::~SlotBuffer() {
    if (storage_ == Storage::libc) std::free(bytes_);
}

void SlotBuffer::settle_at_home(MailPages& pages) noexcept {
    const std::span<std::byte> home = pages.area(id_, MailArea::small);
    bytes_ = home.data();
    capacity_ = home.size();
    ready_ = pages.touched_bytes(id_, MailArea::small);
    calm_eras_ = 0;
    storage_ = home.empty() ? Storage::libc : Storage::home;
}

void SlotBuffer::make_ready(std::size_t needed, MailPages& pages) {
    if (needed > capacity_) {
        const bool fits =
            storage_ == Storage::home && needed <= pages.area(id_, MailArea::large).size();
        if (!fits || !move_to_large(needed, pages)) move_to_libc(needed, pages);
    }
    if (storage_ != Storage::libc) {
        const std::size_t ready =
            pages.touch(id_, storage_ == Storage::home ? MailArea::small : MailArea::large, needed);
        if (ready == 0)
            move_to_libc(needed, pages);
        else
            ready_ = ready;
    }
    if (storage_ == Storage::libc) ready_ = capacity_;
}

// Returns false if the kernel does not open the pages of the area.
bool SlotBuffer::move_to_large(std::size_t needed, MailPages& pages) noexcept {
    const std::span<std::byte> large = pages.area(id_, MailArea::large);
    if (pages.touch(id_, MailArea::large, needed) == 0) return false;
    std::memcpy(large.data(), bytes_, used_);
    bytes_ = large.data();
    capacity_ = large.size();
    storage_ = Storage::large;
    return true;
}

void SlotBuffer::move_to_libc(std::size_t needed, MailPages& pages) {
    std::size_t capacity = capacity_ == 0 ? page_bytes : capacity_ * 2;
    while (capacity < needed) capacity *= 2;
    auto* const bytes = static_cast<std::byte*>(std::aligned_alloc(page_bytes, capacity));
    if (bytes == nullptr) throw std::bad_alloc();
    meter_memory<MeterKind::mail>(bytes, capacity);
    if (used_ > 0) std::memcpy(bytes, bytes_, used_);
    const bool was_in_libc = storage_ == Storage::libc;
    if (!pages.area(id_, MailArea::small).empty())
        pages.note_spilled(capacity - (was_in_libc ? capacity_ : 0));
    if (was_in_libc) std::free(bytes_);
    bytes_ = bytes;
    capacity_ = capacity;
    storage_ = Storage::libc;
}

void SlotBuffer::reconsider_storage(MailPages& pages) noexcept {
    if (used_ > SlotLayout::mail_small_bytes / 2)
        calm_eras_ = 0;
    else if (++calm_eras_ == calm_eras_wanted)
        leave_for_home(pages);
}

void SlotBuffer::leave_for_home(MailPages& pages) noexcept {
    if (storage_ == Storage::libc) std::free(bytes_);
    pages.give_back(id_, MailArea::large);
    settle_at_home(pages);
}

void SlotBuffer::validate(const MailPages& pages) const {
    NW_CHECK(used_ <= ready_);
    NW_CHECK(ready_ <= capacity_);
    NW_CHECK((bytes_ == nullptr) == (capacity_ == 0));
    if (storage_ == Storage::libc) {
        NW_CHECK(ready_ == capacity_);
        return;
    }
    const MailArea area = storage_ == Storage::home ? MailArea::small : MailArea::large;
    NW_CHECK(bytes_ == pages.area(id_, area).data());
    NW_CHECK(capacity_ == pages.area(id_, area).size());
    NW_CHECK(ready_ <= pages.touched_bytes(id_, area));
}

void SlotBuffer::release(MailPages& pages) noexcept {
    used_ = 0;
    pages.give_back(id_, MailArea::small);
    leave_for_home(pages);
}

}  // namespace nw
