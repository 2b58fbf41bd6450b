// SPDX-License-Identifier: Apache-2.0
// Page migration and the placement probe on real nodes. On machines with one node, nothing is
// tested (tests/guest has machines with several nodes).
#include <cerrno>
#include <cstring>
#include <vector>

#include "memory/heap/group_memory.hpp"
#include "numa/place/migration_share.hpp"
#include "numa/place/placement_probe.hpp"
#include "tests/support/catch.hpp"

using namespace nw;

namespace {

// Returns the nodes with 64 MiB of free memory; empty if there are fewer than two such nodes.
std::vector<NodeId> roomy_nodes() {
    std::vector<NodeId> found;
    for (const NodeId node : linux_os().nodes())
        if (linux_os().free_bytes(node) > std::uint64_t{64} << 20) found.push_back(node);
    if (found.size() < 2) {
        WARN("this machine has fewer than two nodes with room; not tested");
        found.clear();
    }
    return found;
}

std::byte* written_segment(GroupMemory& group, std::size_t pages, SegmentKind kind) {
    void* const base = group.segments().allocate_segment(pages * page_bytes, kind);
    REQUIRE(base != nullptr);
    std::memset(base, 7, pages * page_bytes);
    return static_cast<std::byte*>(base);
}

Placement probe(const GroupMemory& group) {
    const PlacedGroup* const one = &group;
    return probe_placement(linux_os(), {&one, 1}, SIZE_MAX);
}

}  // namespace

TEST_CASE("Linux: small and huge pages of a group follow its home over real nodes") {
    const std::vector<NodeId> nodes = roomy_nodes();
    if (nodes.empty()) return;
    const HugePages huge_pages = GENERATE(HugePages::off, HugePages::on);
    MemorySource source(linux_os(), MemoryMode::numa, 2, huge_pages);
    GroupMemory group(source, GroupId{1});
    std::byte* const large = written_segment(group, 3000, SegmentKind::platform);
    written_segment(group, 16, SegmentKind::state);
    group.segments().allocate_segment(100 * page_bytes, SegmentKind::platform);  // untouched
    group.mail().touch(MailBufferId::b, MailArea::small, 3 * page_bytes);
    std::memset(group.mail().area(MailBufferId::b, MailArea::small).data(), 7, 3 * page_bytes);

    MigrationLog log;
    const LocalPolicy policy;
    MigrationShare share(linux_os(), log, policy);
    share.add(group);
    std::uint64_t moved = 0;
    for (const NodeId home : {nodes[0], nodes[1], nodes[0]}) {
        group.request_migration(home);
        // A page is busy while another thread or the kernel uses it.
        for (int pass = 0; pass < 10 && group.home().needs_move(); ++pass) share.pass();
        CHECK_FALSE(group.home().needs_move());
        const Placement placement = probe(group);
        REQUIRE(placement.status == 0);
        CHECK(placement.remote_share() == 0);
        CHECK(placement.of(PageKind::platform).resident >= 3000);
        CHECK(placement.of(PageKind::state).resident >= 16);
        CHECK(placement.of(PageKind::mail).resident == 3);
        const std::uint64_t now = log.figures().pages_moved;
        if (home != nodes[0] || moved != 0) CHECK(now - moved >= 3019);
        moved = now;
    }
    CHECK(log.figures().pages_failed == 0);
    CHECK(log.notices().empty());
    CHECK(large[12345] == std::byte{7});
}

// Goal: the status of each page is known, although the kernel omits some statuses if a part of a
// call fails.
TEST_CASE("Linux: pages without room stay and are reported and do not end the pass") {
    const std::vector<NodeId> nodes = roomy_nodes();
    if (nodes.empty()) return;
    NodeId target = nodes[0];
    for (const NodeId node : nodes)
        if (linux_os().free_bytes(node) < linux_os().free_bytes(target)) target = node;
    const NodeId source_node = nodes[0] == target ? nodes[1] : nodes[0];
    // The test needs more memory than is free on the target. It runs only if this is little memory.
    const std::uint64_t bytes = linux_os().free_bytes(target) + (std::uint64_t{64} << 20);
    if (linux_os().memory().available < 2 * bytes || bytes > std::uint64_t{384} << 20) {
        WARN("no node is small enough to be filled; not tested");
        return;
    }
    void* base = nullptr;
    REQUIRE(linux_os().reserve(nullptr, bytes, base) == 0);
    REQUIRE(linux_os().set_access(base, bytes, Access::write) == 0);
    std::memset(base, 7, bytes);
    std::vector<void*> pages;
    for (std::uint64_t at = 0; at < bytes; at += page_bytes)
        pages.push_back(static_cast<char*>(base) + at);
    std::vector<int> moved(pages.size()), found(pages.size());
    REQUIRE(linux_os().move_pages(pages, target, moved) == 0);
    REQUIRE(linux_os().query_pages(pages, found) == 0);
    std::size_t full = 0;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        REQUIRE((moved[i] == index(target) || moved[i] == -ENOMEM || moved[i] == -EBUSY));
        // A moved page is on the target, unless it was reclaimed in between.
        if (moved[i] == index(target)) CHECK((found[i] == index(target) || found[i] < 0));
        if (moved[i] == -ENOMEM) CHECK(found[i] != index(target));
        full += moved[i] == -ENOMEM ? 1 : 0;
    }
    CHECK(full > 0);
    CHECK(full < pages.size());
    CHECK(linux_os().move_pages({pages.data(), 1}, source_node, {moved.data(), 1}) == 0);
    CHECK(linux_os().unreserve(base, bytes) == 0);
}
