#include "numa/mail_pages.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace nw {

MailPages::MailPages(const SegmentTable& segments) noexcept : segments_(segments) {}

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
    const auto pages = static_cast<std::uint32_t>((bytes + page_bytes - 1) / page_bytes);
    Mark& high = mark(buffer, area);
    if (pages > high.load(std::memory_order_relaxed)) {
        high.store(pages, std::memory_order_relaxed);
        growths_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in growths()
    }
    return touched_bytes(buffer, area);
}

void MailPages::give_back(MailBufferId buffer, MailArea area) noexcept {
    std::size_t bytes = touched_bytes(buffer, area);
    if (bytes == 0) return;
    const std::span<std::byte> whole = this->area(buffer, area);
    if (segments_.has_huge_pages()) {
        // Part of a huge page would split it. Large areas of at least one start at one.
        if (whole.size() % huge_page_bytes != 0) return;
        bytes = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    }
    // Refused where memory is locked.
    if (segments_.source().os().discard(whole.data(), bytes) == 0)
        mark(buffer, area).store(0, std::memory_order_relaxed);
}

}  // namespace nw
