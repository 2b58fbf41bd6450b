#include <cerrno>
#include <optional>

#include "base/check.hpp"
#include "numa/fake_os.hpp"
#include "numa/memory_source.hpp"
#include "numa/region.hpp"
#include "tests/support/catch.hpp"

using namespace nw;

TEST_CASE("Region: slots are equal, disjoint, and an address tells its group") {
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

TEST_CASE("Region: a slot can be written and is zero when discarded") {
    FakeOs os(1, 1);
    const Region region(os, 4);
    std::byte* const page = region.slot(GroupId{2}).data();
    CHECK(page[0] == std::byte{0});
    page[0] = std::byte{7};
    CHECK(os.discard(page, page_bytes) == 0);
    CHECK(page[0] == std::byte{0});
}

TEST_CASE("Region: with little address space it is smaller and says so") {
    FakeOs os(1, 1);
    os.set_reserve_bytes_max(std::size_t{4} << 30);
    const Region region(os, 100);
    region.validate();
    CHECK(region.base() == region_base);
    CHECK(region.bytes() == std::size_t{2} << 30);  // half is left to everything else
    CHECK(region.slot_bytes() == std::size_t{16} << 20);
    REQUIRE(region.notices().size() == 1);
    CHECK(region.notices()[0].find("2 GiB of address space instead of") != std::string::npos);
}

TEST_CASE("Region: with no address space it is a MachineError that names the remedies") {
    FakeOs os(1, 1);
    os.set_reserve_bytes_max(std::size_t{1} << 20);
    try {
        const Region region(os, 4);
        FAIL("reserved more than there is");
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

TEST_CASE("Region: a taken address is not replaced; the region goes elsewhere and says so") {
    FakeOs os(1, 1);
    void* squatter = nullptr;
    REQUIRE(os.reserve(reinterpret_cast<void*>(region_base), page_bytes, squatter) == 0);
    {
        const Region region(os, 4);
        region.validate();
        CHECK(region.base() != region_base);
        REQUIRE(region.notices().size() == 1);
        region.slot(GroupId{3})[0] = std::byte{1};
    }
    CHECK(os.unreserve(squatter, page_bytes) == 0);
    CHECK(os.reserved_ranges() == 0);
}

TEST_CASE("MemorySource: huge pages are forbidden unless asked for, and a refusal is a notice") {
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

TEST_CASE("MemorySource: libc mode without room for its table gives no segments") {
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
