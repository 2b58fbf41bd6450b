// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>

#include "memory/region/memory_source.hpp"
#include "memory/region/region.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "util/check.hpp"

using namespace nw;

namespace {

constexpr std::size_t span_bytes = std::size_t{64} << 10;  // the unit of Region::is_open()

}  // namespace

TEST_CASE("Region: slots are equal and disjoint and an address determines its group") {
    FakeOs os(1, 1);
    const auto groups = GENERATE(1U, 2U, 3U, 64U, 1000U, 65536U);
    const Region region(os, groups);
    region.validate();
    CHECK(region.base() == region_base);
    CHECK(region.bytes() == region_bytes_wanted);
    CHECK(region.notices().empty());
    CHECK(region.slot_bytes() % huge_page_bytes == 0);
    for (const std::uint32_t g : {0U, groups / 2, groups - 1}) {
        const auto slot = region.slot(GroupId{g});
        CHECK(slot.size() == region.slot_bytes());
        CHECK(region.group_of(slot.data()) == GroupId{g});
        CHECK(region.group_of(slot.data() + slot.size() - 1) == GroupId{g});
        CHECK(Region::contains(slot.data()));
        CHECK(Region::contains(slot.data() + slot.size() - 1));
        if (g > 0) CHECK(region.group_of(slot.data() - 1) == GroupId{g - 1});
    }
    const auto* first = region.slot(GroupId{0}).data();
    CHECK_FALSE(Region::contains(first - 1));
    CHECK_FALSE(Region::contains(first + region.bytes()));
    CHECK_FALSE(Region::contains(nullptr));
    CHECK_FALSE(Region::contains(&os));
}

TEST_CASE("Region: a slot can be written and is zero after discard") {
    FakeOs os(1, 1);
    Region region(os, 4);
    std::byte* const page = region.slot(GroupId{2}).data();
    REQUIRE(region.open_slot(GroupId{2}, page_bytes) == page_bytes);
    CHECK(page[0] == std::byte{0});
    page[0] = std::byte{7};
    CHECK(os.discard(page, page_bytes) == 0);
    CHECK(page[0] == std::byte{0});
}

TEST_CASE("Region: only opened memory is open") {
    FakeOs os(1, 1);
    Region region(os, 4);
    CHECK(region.slots_per_cell() == 0);
    const auto closed = [&](std::uint32_t group, std::size_t offset) {
        const std::byte* const page = region.slot(GroupId{group}).data() + offset;
        CHECK(Region::is_open(page) != os.is_closed(page));
        return os.is_closed(page);
    };
    CHECK(closed(0, 0));
    REQUIRE(region.open_slot(GroupId{1}, span_bytes) == span_bytes);
    CHECK_FALSE(closed(1, 0));
    CHECK_FALSE(closed(1, span_bytes - 1));
    CHECK(closed(1, span_bytes));
    CHECK(closed(0, region.slot_bytes() - 1));
    CHECK(closed(2, 0));
    os.fail_next(FakeOs::Call::set_access, ENOMEM);
    CHECK(region.open_slot(GroupId{2}, span_bytes) == 0);
    CHECK(closed(2, 0));
}

TEST_CASE(
    "Region: with more groups, memory is closed in larger cells, so that there are few mappings") {
    FakeOs os(1, 1);
    os.set_mappings_max(4'000);
    struct Expected {
        std::uint32_t groups;
        std::uint32_t slots_per_cell;
    };
    const auto [groups, slots_per_cell] =
        GENERATE(Expected{400, 0}, Expected{600, 1}, Expected{1'500, 2}, Expected{5'000, 8});
    Region region(os, groups);
    REQUIRE(region.slots_per_cell() == slots_per_cell);
    const std::size_t slot_bytes = region.slot_bytes();
    // In a run, workers open the slots of their groups concurrently. The test opens every third
    // slot first.
    std::size_t mappings_most = 0;
    for (std::uint32_t first = 0; first < 3; ++first) {
        for (std::uint32_t g = first; g < groups; g += 3) {
            const bool last = slots_per_cell == 0 || g % slots_per_cell == slots_per_cell - 1;
            REQUIRE(region.open_slot(GroupId{g}, 3 * span_bytes) ==
                    (last ? 3 * span_bytes : slot_bytes));
            REQUIRE(os.is_closed(region.slot(GroupId{g}).data() + 3 * span_bytes) == last);
            REQUIRE(os.is_closed(region.slot(GroupId{g}).data() + slot_bytes - page_bytes) ==
                    region.has_closed_mail());
        }
        mappings_most = std::max(mappings_most, os.mapping_count());
    }
    CHECK(mappings_most <= 3'000);
    CHECK(os.is_closed(region.slot(GroupId{0}).data() - page_bytes) == false);  // not in the region
}

TEST_CASE("Region: with little address space the region is smaller and this is reported") {
    FakeOs os(1, 1);
    os.set_reserve_bytes_max(std::size_t{4} << 30);
    const Region region(os, 100);
    region.validate();
    CHECK(region.base() == region_base);
    CHECK(region.bytes() == std::size_t{2} << 30);  // half is left for the rest of the process
    CHECK(region.slot_bytes() == std::size_t{16} << 20);
    REQUIRE(region.notices().size() == 1);
    CHECK(region.notices()[0].find("2 GiB of address space instead of") != std::string::npos);
}

TEST_CASE("Region: without address space there is a MachineError that names the remedies") {
    FakeOs os(1, 1);
    os.set_reserve_bytes_max(std::size_t{1} << 20);
    try {
        const Region region(os, 4);
        FAIL("no error although there is no address space");
    } catch (const MachineError& e) {
        const std::string what = e.what();
        CHECK(what.find("8 MiB") != std::string::npos);
        CHECK(what.find("ulimit -v") != std::string::npos);
    }
    CHECK_FALSE(Region::contains(reinterpret_cast<void*>(region_base)));
    os.set_reserve_bytes_max(SIZE_MAX);
    const Region afterwards(os, 4);
    afterwards.validate();
}

TEST_CASE(
    "Region: if the usual address is in use, the region has another address and reports this") {
    FakeOs os(1, 1);
    void* squatter = nullptr;
    REQUIRE(os.reserve(reinterpret_cast<void*>(region_base), page_bytes, squatter) == 0);
    {
        const Region region(os, 4);
        region.validate();
        CHECK(region.base() != region_base);
        REQUIRE(region.notices().size() == 1);
        CHECK(os.is_closed(region.slot(GroupId{3}).data()));
    }
    CHECK(os.unreserve(squatter, page_bytes) == 0);
    CHECK(os.reserved_ranges() == 0);
}

TEST_CASE("MemorySource: huge pages are off unless requested and a refusal causes a notice") {
    FakeOs os(1, 1);
    {
        const MemorySource source(os, MemoryMode::numa, 4);
        CHECK(os.records().back().call == FakeOs::Call::advise_huge);
        CHECK(os.records().back().argument == 0);
        CHECK(os.records().back().bytes == source.region()->bytes());
    }
    os.fail_next(FakeOs::Call::advise_huge, EINVAL);
    const MemorySource source(os, MemoryMode::numa, 4, HugePages::on);
    REQUIRE(source.notices().size() == 1);
    CHECK(source.notices()[0].find("huge pages") != std::string::npos);
}

TEST_CASE("MemorySource: libc mode without room for its table returns no segments") {
    FakeOs os(1, 1);
    os.set_reserve_bytes_max(page_bytes);
    const MemorySource source(os, MemoryMode::libc, 4);
    CHECK(LibcSegments::allocate(std::size_t{64} << 10) == nullptr);
    os.set_reserve_bytes_max(SIZE_MAX);
    void* const segment = LibcSegments::allocate(std::size_t{64} << 10);
    REQUIRE(segment != nullptr);
    CHECK(LibcSegments::contains(segment));
    LibcSegments::release(segment, std::size_t{64} << 10);
    CHECK(!LibcSegments::contains(segment));
}
