// SPDX-License-Identifier: Apache-2.0
// Tests where a group's mail is in the group's slot, and which pages are recorded as touched.
#include "memory/region/mail_pages.hpp"

#include <cerrno>
#include <map>

#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/unit/memory/resident_pages.hpp"
#include "tests/unit/memory/small_slots.hpp"

using namespace nw;
using test::resident_pages;

namespace {

constexpr MailBufferId both_buffers[] = {MailBufferId::a, MailBufferId::b};
constexpr MailArea both_areas[] = {MailArea::small, MailArea::large};

std::map<std::byte*, std::size_t> ranges_of(const MailPages& pages) {
    std::map<std::byte*, std::size_t> ranges;
    pages.for_each_touched_range(
        [&](std::byte* base, std::size_t bytes) { ranges.emplace(base, bytes); });
    return ranges;
}

}  // namespace

TEST_CASE(
    "SlotLayout: mail areas at both ends and segments between them fill the slot without overlap") {
    const std::size_t mebibytes = GENERATE(2U, 4U, 32U, 1024U, 32U * 1024U);
    const std::size_t bytes = mebibytes << 20;
    const SlotLayout layout{{reinterpret_cast<std::byte*>(region_base), bytes}};
    std::map<std::byte*, std::size_t> parts{{layout.segments().data(), layout.segments().size()}};
    for (const MailBufferId buffer : both_buffers)
        for (const MailArea area : both_areas)
            parts.emplace(layout.mail(buffer, area).data(), layout.mail(buffer, area).size());
    REQUIRE(parts.size() == 5);
    std::byte* end = layout.slot.data();
    for (const auto& [base, size] : parts) {
        CHECK(base == end);
        CHECK(size % page_bytes == 0);
        end = base + size;
    }
    CHECK(end == layout.slot.data() + bytes);
    CHECK(layout.segments().size() > bytes * 3 / 4);
}

TEST_CASE("MailPages: segments do not overlap mail areas even in the smallest slot") {
    test::SmallSlots kernel;
    MemorySource source(kernel.os, MemoryMode::numa, kernel.groups);
    REQUIRE(source.region()->slot_bytes() == std::size_t{2} << 20);
    SegmentTable segments(source, GroupId{1});
    const MailPages pages(segments);
    std::size_t taken = 0;
    while (segments.allocate_segment(page_bytes, SegmentKind::platform) != nullptr)
        taken += page_bytes;
    CHECK(taken == SlotLayout{source.region()->slot(GroupId{1})}.segments().size());
    for (const Segment& segment : segments.entries()) {
        for (const MailBufferId buffer : both_buffers) {
            for (const MailArea area : both_areas) {
                const auto mail = pages.area(buffer, area);
                CHECK((segment.base + segment.bytes <= mail.data() ||
                       mail.data() + mail.size() <= segment.base));
            }
        }
    }
    segments.validate();
}

TEST_CASE("MailPages: touched ranges are whole pages until they are given back") {
    MemorySource source(linux_os(), MemoryMode::numa, 4);
    SegmentTable segments(source, GroupId{2});
    MailPages pages(segments);
    CHECK(ranges_of(pages).empty());

    const auto small = pages.area(MailBufferId::b, MailArea::small);
    const auto large = pages.area(MailBufferId::a, MailArea::large);
    CHECK(pages.touch(MailBufferId::b, MailArea::small, 1) == page_bytes);
    CHECK(pages.touch(MailBufferId::a, MailArea::large, 5 * page_bytes + 1) == 6 * page_bytes);
    CHECK(pages.touch(MailBufferId::a, MailArea::large, page_bytes) == 6 * page_bytes);
    const std::map<std::byte*, std::size_t> expected{{small.data(), page_bytes},
                                                     {large.data(), 6 * page_bytes}};
    CHECK(ranges_of(pages) == expected);
    CHECK(pages.touched_bytes() == 7 * page_bytes);

    small[0] = std::byte{1};
    for (std::size_t page = 0; page < 6; ++page) large[page * page_bytes] = std::byte{1};
    REQUIRE(resident_pages(large.first(8 * page_bytes)) == 6);
    pages.give_back(MailBufferId::a, MailArea::large);
    CHECK(resident_pages(large.first(8 * page_bytes)) == 0);
    CHECK(resident_pages(small) == 1);
    CHECK(ranges_of(pages).size() == 1);
}

TEST_CASE("MailPages: the pages return to the kernel when their group is destroyed") {
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    SegmentTable segments(source, GroupId{0});
    std::span<std::byte> area;
    {
        MailPages pages(segments);
        area = pages.area(MailBufferId::a, MailArea::small);
        pages.touch(MailBufferId::a, MailArea::small, 1);
        area[0] = std::byte{1};
        REQUIRE(resident_pages(area) == 1);
    }
    CHECK(resident_pages(area) == 0);
}

TEST_CASE("MailPages: a part of a huge page is kept and whole huge pages return to the kernel") {
    FakeOs os(1, 1);
    MemorySource source(os, MemoryMode::numa, 4, HugePages::on);
    SegmentTable segments(source, GroupId{0});
    MailPages pages(segments);
    pages.touch(MailBufferId::a, MailArea::small, 1);
    pages.touch(MailBufferId::a, MailArea::large, 1);
    pages.give_back(MailBufferId::a, MailArea::small);
    CHECK(os.count(FakeOs::Call::discard) == 0);
    CHECK(pages.touched_bytes(MailBufferId::a, MailArea::small) == page_bytes);
    pages.give_back(MailBufferId::a, MailArea::large);
    REQUIRE(os.count(FakeOs::Call::discard) == 1);
    CHECK(os.records().back().address == pages.area(MailBufferId::a, MailArea::large).data());
    CHECK(os.records().back().bytes == huge_page_bytes);
    CHECK(pages.touched_bytes() == page_bytes);
}

TEST_CASE("MailPages: pages that the kernel does not discard stay recorded as touched") {
    FakeOs os(1, 1);
    MemorySource source(os, MemoryMode::numa, 4);
    SegmentTable segments(source, GroupId{0});
    MailPages pages(segments);
    pages.touch(MailBufferId::b, MailArea::small, 1);
    os.fail_next(FakeOs::Call::discard, EINVAL);
    pages.give_back(MailBufferId::b, MailArea::small);
    CHECK(pages.touched_bytes() == page_bytes);
    pages.give_back(MailBufferId::b, MailArea::small);
    CHECK(pages.touched_bytes() == 0);
}

TEST_CASE("MailPages: a large area is opened as needed and closed when it is given back") {
    FakeOs os(1, 1);
    MemorySource source(os, MemoryMode::numa, 2);
    SegmentTable segments(source, GroupId{1});
    MailPages pages(segments);
    const auto small = pages.area(MailBufferId::b, MailArea::small);
    const auto large = pages.area(MailBufferId::b, MailArea::large);
    CHECK_FALSE(os.is_closed(&small[0]));
    CHECK_FALSE(os.is_closed(&small.back()));
    CHECK(os.is_closed(&large[0]));
    os.fail_next(FakeOs::Call::set_access, ENOMEM);
    CHECK(pages.touch(MailBufferId::b, MailArea::large, page_bytes) == 0);
    CHECK(pages.touched_bytes() == 0);
    std::size_t calls = os.count(FakeOs::Call::set_access);
    for (std::size_t bytes = page_bytes; bytes <= (std::size_t{8} << 20); bytes += page_bytes) {
        REQUIRE(pages.touch(MailBufferId::b, MailArea::large, bytes) == bytes);
        REQUIRE_FALSE(os.is_closed(&large[bytes - 1]));
    }
    CHECK(os.count(FakeOs::Call::set_access) - calls < 20);
    CHECK(os.is_closed(&large[std::size_t{13} << 20]));
    CHECK(os.is_closed(&pages.area(MailBufferId::a, MailArea::large)[0]));
    pages.give_back(MailBufferId::b, MailArea::large);
    CHECK(os.is_closed(&large[0]));
    CHECK(pages.touch(MailBufferId::b, MailArea::large, 1) == page_bytes);
    CHECK_FALSE(os.is_closed(&large[0]));
}

TEST_CASE("MailPages: with memory from libc there are no areas") {
    MemorySource source(linux_os(), MemoryMode::libc, 4);
    SegmentTable segments(source, GroupId{0});
    const MailPages pages(segments);
    for (const MailBufferId buffer : both_buffers)
        for (const MailArea area : both_areas) CHECK(pages.area(buffer, area).empty());
    CHECK(ranges_of(pages).empty());
}
