// SPDX-License-Identifier: Apache-2.0
#include "memory/region/mail_pages.hpp"

#include <algorithm>

#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

// Bounds for the bytes of a large area that are opened in addition to the needed ones.
constexpr std::size_t open_bytes_min = std::size_t{64} << 10;
constexpr std::size_t open_bytes_step_max = std::size_t{64} << 20;

}  // namespace

MailPages::MailPages(SegmentTable& segments) noexcept : segments_(segments) {}

MailPages::~MailPages() {
    for (const MailBufferId buffer : {MailBufferId::a, MailBufferId::b}) {
        give_back(buffer, MailArea::small);
        give_back(buffer, MailArea::large);
    }
}

std::span<std::byte> MailPages::area(MailBufferId buffer, MailArea area) const noexcept {
    const Region* const region = segments_.source().region();
    if (region == nullptr) return {};
    return SlotLayout{region->slot(segments_.group())}.mail(buffer, area);
}

std::size_t MailPages::touch(MailBufferId buffer, MailArea area, std::size_t bytes) noexcept {
    NW_CHECK(bytes <= this->area(buffer, area).size());
    if (area == MailArea::large && !open_large(buffer, bytes)) return 0;
    const auto pages = static_cast<std::uint32_t>((bytes + page_bytes - 1) / page_bytes);
    Mark& high = mark(buffer, area);
    if (pages > high.load(std::memory_order_relaxed)) {
        meter_memory<MeterKind::mail>(this->area(buffer, area).data(), pages * page_bytes);
        high.store(pages, std::memory_order_relaxed);
        growths_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in growths()
    }
    return touched_bytes(buffer, area);
}

bool MailPages::open_large(MailBufferId buffer, std::size_t bytes) noexcept {
    Region& region = *segments_.source().region();
    std::size_t& open = open_bytes_[static_cast<std::size_t>(buffer)];
    if (!region.has_closed_mail() || bytes <= open) return true;
    const std::span<std::byte> whole = area(buffer, MailArea::large);
    // Opens the needed bytes and half as many more. So there are few steps, and few bytes are open
    // that are not needed.
    const std::size_t wanted = bytes + std::clamp(bytes / 2, open_bytes_min, open_bytes_step_max);
    const std::size_t grain = segments_.has_huge_pages() ? huge_page_bytes : page_bytes;
    const std::size_t upto = std::min((wanted + grain - 1) / grain * grain, whole.size());
    if (!region.set_access(whole.data() + open, upto - open, true)) return false;
    open = upto;
    return true;
}

void MailPages::validate() const {
    for (const MailBufferId buffer : {MailBufferId::a, MailBufferId::b})
        for (const MailArea area : {MailArea::small, MailArea::large})
            NW_CHECK(touched_bytes(buffer, area) <= this->area(buffer, area).size());
}

void MailPages::give_back(MailBufferId buffer, MailArea area) noexcept {
    std::size_t bytes = touched_bytes(buffer, area);
    if (bytes == 0) return;
    const std::span<std::byte> whole = this->area(buffer, area);
    if (segments_.has_huge_pages()) {
        // Releasing a part of a huge page would split it. Large areas of at least one huge page
        // begin at the boundary of a huge page.
        if (whole.size() % huge_page_bytes != 0) return;
        bytes = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    }
    // The kernel refuses this for locked memory.
    if (segments_.source().os().discard(whole.data(), bytes) != 0) return;
    mark(buffer, area).store(0, std::memory_order_relaxed);
    std::size_t& open = open_bytes_[static_cast<std::size_t>(buffer)];
    if (area == MailArea::large && open != 0 &&
        segments_.source().region()->set_access(whole.data(), open, false))
        open = 0;
}

}  // namespace nw
