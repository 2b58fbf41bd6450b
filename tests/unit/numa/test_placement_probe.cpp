// SPDX-License-Identifier: Apache-2.0
// Compares the results of the placement probe with the nodes on which the test has put the pages.
#include <cerrno>
#include <thread>

#include "numa/place/group_pages.hpp"
#include "numa/place/placement_probe.hpp"
#include "tests/unit/numa/fake_groups.hpp"

using namespace nw;

namespace {

constexpr NodeId n0{0}, n1{1}, n2{2};

Placement probe(Os& os, test::FakeGroups& groups, std::size_t pages_max = SIZE_MAX) {
    const std::vector<PlacedGroup*> all = groups.all();
    const std::vector<const PlacedGroup*> readable(all.begin(), all.end());
    return probe_placement(os, readable, pages_max);
}

}  // namespace

TEST_CASE("Placement: a query of every page gives exact figures by kind and node") {
    FakeOs os(4, 2);
    test::FakeGroups groups(os, 2);
    groups[0].set_home(n0);
    groups[1].set_home(n1);
    groups.add_segment(0, 10, n0, 6);
    groups.add_segment(0, 16, n2, 4, SegmentKind::state);
    groups.add_segment(1, 5, n0, 5);
    groups.add_segment(1, 16, n1, 16, SegmentKind::state);
    groups.add_mail(1, 3, n0);

    const Placement placement = probe(os, groups);
    CHECK(placement.status == 0);
    const PagePlacement& state = placement.of(PageKind::state);
    CHECK(state.pages == 32);
    CHECK(state.queried == 32);
    CHECK(state.resident == 20);
    CHECK(state.misplaced == 4);
    CHECK(state.remote_share() == 0.2);
    CHECK(state.by_node == std::vector<std::uint64_t>{0, 16, 4});
    CHECK(state.resident_bytes() == 20 * page_bytes);
    CHECK(state.resident_bytes(n1) == 16 * page_bytes);
    CHECK(state.resident_bytes(NodeId{3}) == 0);
    const PagePlacement& platform = placement.of(PageKind::platform);
    CHECK(platform.resident == 11);
    CHECK(platform.misplaced == 5);
    CHECK(platform.by_node == std::vector<std::uint64_t>{11});
    const PagePlacement& mail = placement.of(PageKind::mail);
    CHECK(mail.pages == 3);
    CHECK(mail.remote_share() == 1);
    CHECK(placement.remote_share() == Approx(12.0 / 34));
    CHECK(placement.resident_bytes() == 34 * page_bytes);
}

TEST_CASE("Placement: untouched pages are not remote") {
    FakeOs os(2, 2);
    test::FakeGroups groups(os, 1);
    groups[0].set_home(n0);
    groups.add_segment(0, 10, n0, 0);
    const Placement placement = probe(os, groups);
    CHECK(placement.of(PageKind::platform).queried == 10);
    CHECK(placement.of(PageKind::platform).resident == 0);
    CHECK(placement.remote_share() == 0);
    CHECK(placement.resident_bytes() == 0);
    CHECK(probe(os, groups, 0).of(PageKind::platform).queried == 0);
}

TEST_CASE("Placement: a group without a home has no misplaced pages") {
    FakeOs os(2, 2);
    test::FakeGroups groups(os, 1);
    groups.add_segment(0, 10, n1, 10);
    CHECK(probe(os, groups).remote_share() == 0);
}

// Goal: a sample is even. A sample of every 16th page would be wrong for segments of 16 pages, of
// which the first 4 are touched.
TEST_CASE("Placement: a sample is bounded and repeatable and close to the exact figures") {
    FakeOs os(2, 2);
    test::FakeGroups groups(os, 8);
    for (std::size_t g = 0; g < 8; ++g) {
        groups[g].set_home(NodeId{g < 2 ? 1 : 0});
        for (int s = 0; s < 500; ++s) groups.add_segment(g, 16, n0, 4, SegmentKind::state);
    }
    const std::size_t pages_max = GENERATE(1000, 4000, 4096, 10'000);
    const Placement placement = probe(os, groups, pages_max);
    const PagePlacement& state = placement.of(PageKind::state);
    CHECK(state.pages == 64'000);
    CHECK(state.queried <= pages_max);
    CHECK(state.queried >= pages_max / 2);
    CHECK(placement.remote_share() == Approx(0.25).margin(0.05));
    CHECK(static_cast<double>(state.resident_bytes()) ==
          Approx(16'000.0 * page_bytes).epsilon(0.15));
    const Placement again = probe(os, groups, pages_max);
    CHECK(again.of(PageKind::state).by_node == state.by_node);
    CHECK(again.of(PageKind::state).misplaced == state.misplaced);
}

TEST_CASE("Placement: a kernel that does not answer is reported without an estimate") {
    FakeOs os(2, 2);
    test::FakeGroups groups(os, 1);
    groups.add_segment(0, 10, n1, 10);
    os.fail_next(FakeOs::Call::query_pages, EPERM);
    const Placement placement = probe(os, groups);
    CHECK(placement.status == EPERM);
    CHECK(placement.of(PageKind::platform).queried == 0);
}

TEST_CASE("Placement: can be probed while groups grow") {
    FakeOs os(2, 2);
    test::FakeGroups groups(os, 2);
    groups[0].set_home(n0);
    groups[1].set_home(n0);
    std::thread owner([&] {
        for (int s = 0; s < 500; ++s) groups.add_segment(0, 2, n0, 2);
    });
    for (int i = 0; i < 20; ++i) CHECK(probe(os, groups, 500).remote_share() == 0);
    owner.join();
    CHECK(probe(os, groups).of(PageKind::platform).resident == 1000);
}

TEST_CASE("Placement: with --memory libc the kernel is queried for the segments of malloc") {
    MemorySource source(linux_os(), MemoryMode::libc, 2);
    GroupMemory group(source, GroupId{1});
    void* const base = group.segments().allocate_segment(8 * page_bytes, SegmentKind::platform);
    for (std::size_t i = 0; i < 3; ++i) static_cast<char*>(base)[i * page_bytes] = 1;
    const PlacedGroup* const one = &group;
    const Placement placement = probe_placement(linux_os(), {&one, 1}, SIZE_MAX);
    if (placement.status != 0) {
        WARN("this machine does not allow move_pages; not tested");
        return;
    }
    CHECK(placement.of(PageKind::platform).queried == 8);
    CHECK(placement.of(PageKind::platform).resident >= 3);
}

TEST_CASE("Pages of groups: no page belongs to two groups and a shared page would be found") {
    FakeOs os(2, 2);
    test::FakeGroups groups(os, 4);
    for (std::size_t g = 0; g < 4; ++g) {
        for (std::size_t s = 0; s < 20; ++s) groups.add_segment(g, s + 1, n0, 1);
        groups.add_mail(g, 3, n0);
    }
    const std::vector<PlacedGroup*> all = groups.all();
    std::vector<const PlacedGroup*> readable(all.begin(), all.end());
    CHECK(pages_shared_between_groups(readable) == 0);

    // Two groups with one slot: each has 5 pages from the start of the slot. The second group has 2
    // more.
    MemorySource& source = groups[3].segments().source();
    GroupMemory twin(source, GroupId{3});
    twin.segments().allocate_segment(5 * page_bytes, SegmentKind::platform);
    twin.segments().allocate_segment(2 * page_bytes, SegmentKind::platform);
    readable.push_back(&twin);
    CHECK(pages_shared_between_groups(readable) == 7);
}
