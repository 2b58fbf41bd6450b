// SPDX-License-Identifier: Apache-2.0
// Tests pages that are spread over nodes by weights: on which node each page should be, and how
// pagemigd moves the page to this node.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "numa/decide/page_map.hpp"
#include "numa/place/migration_share.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/numa/fake_groups.hpp"

using namespace nw;
using nw::test::Dice;
using nw::test::test_seeds;

namespace {

const std::vector<NodeId> nodes4{NodeId{0}, NodeId{1}, NodeId{2}, NodeId{5}};
const PageWeights weights4{0.4, 0.3, 0.2, 0.1};
constexpr NodeSet workers4 = 0b0011;

const void* page(std::uint64_t number) {
    return reinterpret_cast<const void*>(number * page_bytes);
}

// Spreads pages by a map. The test sets the proximity.
struct MapPolicy final : PlacementPolicy {
    explicit MapPolicy(const PageMap& with) : map(with) {}
    NodeId node_of(const void* at, NodeId home) const noexcept override {
        return spread ? map.node_of(at, dwp) : home;
    }
    bool spreads() const noexcept override { return spread; }
    std::uint32_t changes() const noexcept override { return count; }

    PageMap map;
    std::atomic<bool> spread{true};
    std::atomic<double> dwp{0};
    std::atomic<std::uint32_t> count{0};
};

struct Machine {
    FakeOs os{4, 2};
    test::FakeGroups groups{os, 4};
    MigrationLog log;
    MapPolicy policy{
        PageMap({NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}}, weights4, workers4, page_bytes)};
    MigrationShare share{os, log, policy};

    Machine() {
        for (PlacedGroup* group : groups.all()) {
            group->set_home(NodeId{0});
            share.add(*group);
        }
    }
    std::uint64_t moved_by_pass() {
        const std::uint64_t before = log.figures().pages_moved;
        share.pass();
        return log.figures().pages_moved - before;
    }
    // The number of pages that are not on the map's node.
    std::size_t misplaced(std::byte* base, std::size_t pages) {
        const std::vector<int> there = groups.nodes_of(base, pages);
        std::size_t count = 0;
        for (std::size_t i = 0; i < pages; ++i)
            count += there[i] >= 0 &&
                     there[i] != index(policy.map.node_of(base + i * page_bytes, policy.dwp));
        return count;
    }
};

}  // namespace

TEST_CASE("PageMap: the shares of touched pages equal the weights within one percent") {
    const std::uint64_t seed = test_seeds(1).front();
    INFO("NUMAWARP_TEST_SEED=" << seed);
    Dice dice(seed);
    constexpr std::uint64_t base = 0x5800'0000'0;  // a page number
    for (const unsigned slot_shift : {9U, 18U, 28U}) {
        const std::uint64_t slot_pages = std::uint64_t{1} << slot_shift;
        const PageMap map(nodes4, weights4, workers4, page_bytes,
                          {base * page_bytes, slot_shift + 12});
        for (const std::uint64_t touched : {1U, 7U, 16U, 64U}) {
            for (const double dwp : {0.0, 0.35, 1.0}) {
                std::map<NodeId, double> share;
                const std::uint64_t first = base + dice.below(1000) * slot_pages;
                // Segments with `touched` touched pages each, at regular places in slots.
                constexpr std::uint64_t pages = 1 << 13;
                for (std::uint64_t i = 0; i < pages; ++i) {
                    const std::uint64_t segment = i / touched;
                    const std::uint64_t at = segment / 8 * slot_pages + segment % 8 * 64;
                    share[map.node_of(page(first + at + i % touched), dwp)] += 1.0 / pages;
                }
                const PageWeights expected = weights_at(weights4, workers4, dwp);
                INFO("slots of " << slot_pages << " pages, " << touched << " touched, dwp " << dwp);
                for (std::size_t n = 0; n < nodes4.size(); ++n)
                    CHECK(std::abs(share[nodes4[n]] - expected[n]) < 0.01);
            }
        }
    }
}

TEST_CASE(
    "PageMap: a thousand pages of one kind at regular distances have the weights within one "
    "percent") {
    const std::vector<NodeId> nodes8{NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3},
                                     NodeId{4}, NodeId{5}, NodeId{6}, NodeId{7}};
    const PageWeights weights8{0.128, 0.122, 0.122, 0.122, 0.122, 0.128, 0.128, 0.128};
    constexpr std::uint64_t slot_pages = 1 << 18, slots = 18, pages_of_slot = 60;
    const PageMap map(nodes8, weights8, 0b1111, page_bytes, {0, 18 + 12});
    std::size_t cases = 0, off = 0;
    for (const std::uint64_t stretch : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
        for (const std::uint64_t every : {1U, 2U, 3U, 4U}) {  // pages of other kinds are in between
            for (const double dwp : {0.0, 0.2, 0.4, 0.6, 1.0}) {
                std::map<NodeId, double> share;
                for (std::uint64_t i = 0; i < slots * pages_of_slot; ++i) {
                    const std::uint64_t k = i % pages_of_slot;
                    const std::uint64_t at = k / stretch * stretch * every + k % stretch;
                    share[map.node_of(page(i / pages_of_slot * slot_pages + at), dwp)] +=
                        1.0 / (slots * pages_of_slot);
                }
                const PageWeights expected = weights_at(weights8, 0b1111, dwp);
                double worst = 0;
                for (std::size_t n = 0; n < nodes8.size(); ++n)
                    worst = std::max(worst, std::abs(share[nodes8[n]] - expected[n]));
                ++cases;
                off += worst > 0.01;
                CHECK(worst < 0.02);
            }
        }
    }
    INFO(off << " of " << cases << " cases are more than a percentage point off");
    CHECK(off <= cases / 20);
}

TEST_CASE("PageMap: growing proximity moves each page to a worker's node at most once") {
    const PageMap map(nodes4, weights4, workers4, page_bytes);
    for (std::uint64_t number = 1000; number < 3000; ++number) {
        const NodeId canonical = map.node_of(page(number), 0);
        NodeId last = canonical;
        int changes = 0;
        for (int step = 0; step <= 20; ++step) {
            const NodeId now = map.node_of(page(number), step / 20.0);
            changes += now != last;
            last = now;
        }
        REQUIRE(changes <= 1);
        REQUIRE((last == NodeId{0} || last == NodeId{1}));
        if (canonical == NodeId{0} || canonical == NodeId{1}) REQUIRE(changes == 0);
    }
}

TEST_CASE(
    "PageMap: under the kernel's rule the node is the page number modulo the sum of weights") {
    PageMap map(nodes4, weights4, workers4, page_bytes);
    map.follow_kernel({4, 3, 2, 1});
    const int expected[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 5};
    for (std::uint64_t number = 0; number < 40; ++number)
        CHECK(index(map.node_of(page(number), 0)) == expected[number % 10]);
    // With proximity 0, the workers' nodes have 7 of 10 pages. With proximity 1, they have all
    // pages.
    std::map<NodeId, int> count;
    for (std::uint64_t number = 0; number < 10'000; ++number) ++count[map.node_of(page(number), 1)];
    CHECK(count.size() == 2);
    CHECK(count[NodeId{0}] == Approx(10'000 * 4 / 7.0).epsilon(0.02));
}

TEST_CASE("PageMap: all pages of a huge page have one node") {
    const PageMap map(nodes4, weights4, workers4, huge_page_bytes);
    std::set<NodeId> seen;
    for (std::uint64_t huge = 0; huge < 100; ++huge) {
        const NodeId first = map.node_of(page(huge * 512), 0);
        seen.insert(first);
        for (std::uint64_t i = 1; i < 512; ++i)
            REQUIRE(map.node_of(page(huge * 512 + i), 0) == first);
    }
    CHECK(seen.size() == 4);
}

TEST_CASE("MigrationShare: spread pages move to their nodes without a request") {
    Machine m;
    auto* a = m.groups.add_segment(0, 1000, NodeId{0}, 1000, SegmentKind::state);
    m.moved_by_pass();
    CHECK(m.misplaced(a, 1000) == 0);
    CHECK(m.share.changes_done() == 0);
    // Adds a new segment, and touches some of its pages later.
    auto* b = m.groups.add_segment(1, 500, NodeId{0}, 100);
    m.moved_by_pass();
    CHECK(m.misplaced(b, 500) == 0);
    for (std::size_t i = 100; i < 500; ++i) m.os.touch(b + i * page_bytes, NodeId{0});
    CHECK(m.misplaced(b, 500) > 0);
    m.moved_by_pass();
    CHECK(m.misplaced(b, 500) == 0);
    CHECK(m.moved_by_pass() == 0);
}

TEST_CASE("MigrationShare: a step of proximity moves only changed pages and each page once") {
    Machine m;
    auto* a = m.groups.add_segment(0, 4000, NodeId{0}, 4000);
    m.moved_by_pass();
    std::vector<int> before = m.groups.nodes_of(a, 4000);
    for (const double dwp : {0.25, 0.5, 1.0}) {
        m.policy.dwp = dwp;
        ++m.policy.count;
        CHECK(m.share.changes_done() != m.policy.count);
        const std::uint64_t moved = m.moved_by_pass();
        const std::vector<int> after = m.groups.nodes_of(a, 4000);
        std::uint64_t changed = 0;
        for (std::size_t i = 0; i < after.size(); ++i) changed += after[i] != before[i];
        CHECK(moved == changed);
        CHECK(m.misplaced(a, 4000) == 0);
        CHECK(m.share.changes_done() == m.policy.count);
        before = after;
    }
}

TEST_CASE("MigrationShare: a step without room is complete and the remaining pages move later") {
    Machine m;
    auto* a = m.groups.add_segment(0, 400, NodeId{0}, 400);
    ++m.policy.count;
    SECTION("no room by the figures") { m.os.set_free_bytes(NodeId{1}, 0); }
    SECTION("no room by the kernel") { m.os.fail_next(FakeOs::Call::move_pages, ENOMEM, 3); }
    m.moved_by_pass();
    CHECK(m.share.changes_done() == 1);
    CHECK(m.log.figures().pages_no_room > 0);
    CHECK(m.misplaced(a, 400) > 0);
    m.os.set_free_bytes(NodeId{1}, 1 << 30);
    m.moved_by_pass();
    CHECK(m.misplaced(a, 400) == 0);
}

TEST_CASE("MigrationShare: pages that are no longer spread move home when there is room") {
    Machine m;
    auto* a = m.groups.add_segment(0, 400, NodeId{0}, 400);
    m.moved_by_pass();
    m.policy.spread = false;
    ++m.policy.count;
    m.os.set_free_bytes(NodeId{0}, 0);
    CHECK(m.moved_by_pass() == 0);
    CHECK(m.share.changes_done() == 1);
    m.os.set_free_bytes(NodeId{0}, 1 << 30);
    CHECK(m.moved_by_pass() > 0);
    CHECK(m.groups.nodes_of(a, 400) == std::vector<int>(400, 0));
    const std::size_t before = m.os.records().size();
    m.moved_by_pass();
    CHECK(m.os.records().size() == before);
}

TEST_CASE("MigrationShare: busy pages are moved before a step is complete") {
    Machine m;
    auto* a = m.groups.add_segment(0, 400, NodeId{0}, 400);
    for (std::size_t i = 0; i < 400; ++i) m.os.set_busy(a + i * page_bytes);
    ++m.policy.count;
    m.moved_by_pass();
    CHECK(m.share.changes_done() == 0);
    m.moved_by_pass();
    CHECK(m.share.changes_done() == 1);
    CHECK(m.misplaced(a, 400) == 0);
}

TEST_CASE("MigrationShare: spread pages stay when their group changes its worker") {
    Machine m;
    auto* a = m.groups.add_segment(0, 1000, NodeId{0}, 1000);
    m.moved_by_pass();
    m.groups[0].request_migration(NodeId{1});
    CHECK(m.moved_by_pass() == 0);
    CHECK(m.misplaced(a, 1000) == 0);
    CHECK_FALSE(m.groups[0].home().needs_move());
}

TEST_CASE("MigrationShare: pages beyond the limit of a pass are checked in later passes") {
    Machine m;
    const std::size_t pages = MigrationShare::sweep_pages / 2 + 1;
    for (std::size_t g = 0; g < 4; ++g) m.groups.add_segment(g, pages, NodeId{0}, 0);
    m.moved_by_pass();
    std::vector<std::byte*> bases;
    for (std::size_t g = 0; g < 4; ++g)
        bases.push_back(m.groups[g].segments().entries().front().base);
    for (std::byte* base : bases)
        for (std::size_t i = 0; i < 10; ++i) m.os.touch(base + i * page_bytes, NodeId{3});
    const auto left = [&] {
        std::size_t sum = 0;
        for (std::byte* base : bases) sum += m.misplaced(base, 10);
        return sum;
    };
    const std::size_t all = left();
    m.moved_by_pass();
    CHECK(left() < all);
    CHECK(left() > 0);
    m.moved_by_pass();
    CHECK(left() == 0);
}

TEST_CASE("MigrationShare: a group larger than the limit of a pass is checked in parts") {
    Machine m;
    const std::size_t pages = 3 * MigrationShare::sweep_pages / 4;
    for (int segment = 0; segment < 3; ++segment) m.groups.add_segment(0, pages, NodeId{0}, 0);
    m.moved_by_pass();
    const auto looked_at_by_pass = [&m] {
        const std::size_t before = m.os.records().size();
        m.moved_by_pass();
        std::size_t bytes = 0;
        for (std::size_t i = before; i < m.os.records().size(); ++i)
            if (m.os.records()[i].call == FakeOs::Call::query_pages)
                bytes += m.os.records()[i].bytes;
        return bytes / page_bytes;
    };
    for (const Segment& segment : m.groups[0].segments().entries())
        for (const std::size_t at : {std::size_t{0}, pages / 2, pages - 10})
            m.groups.touch(segment.base + at * page_bytes, 10, NodeId{3});
    for (int pass = 0; pass < 3; ++pass) CHECK(looked_at_by_pass() <= MigrationShare::sweep_pages);
    for (const Segment& segment : m.groups[0].segments().entries())
        CHECK(m.misplaced(segment.base, pages) == 0);
}

TEST_CASE(
    "placement policies: interleaved pages have the kernel's nodes and use a policy of the "
    "kernel") {
    FakeOs os(3, 1);
    const auto policy = interleave_placement.make(
        os, {.machine_file = "", .huge_pages = HugePages::off, .places = {}, .slots = {}});
    CHECK(policy->spreads());
    for (std::uint64_t number = 0; number < 9; ++number)
        CHECK(index(policy->node_of(page(number), NodeId{0})) == static_cast<int>(number % 3));
    CHECK(policy->post_for_new_pages(os, nullptr, 4096) == 0);
    CHECK(os.count(FakeOs::Call::interleave_new_pages) == 1);
    FakeOs alone(1, 1);
    const auto idle = interleave_placement.make(
        alone, {.machine_file = "", .huge_pages = HugePages::off, .places = {}, .slots = {}});
    CHECK_FALSE(idle->spreads());
    CHECK(idle->post_for_new_pages(alone, nullptr, 4096) == 0);
    CHECK(alone.count(FakeOs::Call::interleave_new_pages) == 0);
}

TEST_CASE("placement policies: the kernel's weights are used if they match the machine's weights") {
    const nw::test::TemporaryFolder folder;
    const std::string file = folder.path() + "/machine.json";
    std::ofstream(file) << R"({"bw": [[6, 3, 1], [3, 6, 1], [1, 1, 6]]})";
    FakeOs os(3, 1);
    const PolicyInputs inputs{.machine_file = file,
                              .huge_pages = HugePages::off,
                              .places = {{0, NodeId{0}}},
                              .slots = {}};
    CHECK(weighted_placement.make(os, inputs)->post_for_new_pages(os, nullptr, 4096) == 0);
    CHECK(os.count(FakeOs::Call::interleave_new_pages) == 0);
    os.set_interleave_weights({1, 1, 1});
    CHECK(weighted_placement.make(os, inputs)->post_for_new_pages(os, nullptr, 4096) == 0);
    CHECK(os.count(FakeOs::Call::interleave_new_pages) == 0);
    os.set_interleave_weights({60, 30, 10});
    const auto policy = weighted_placement.make(os, inputs);
    CHECK(policy->post_for_new_pages(os, nullptr, 4096) == 0);
    CHECK(os.count(FakeOs::Call::interleave_new_pages) == 1);
    CHECK(policy->report() ==
          "pages on nodes 0 60.0 %, 1 30.0 %, 2 10.0 %; proximity 0.00 (the search has not ended); "
          "by " +
              file);
}

TEST_CASE(
    "placement policies: proximity is tuned by events per second of CPU time in windows with pages "
    "in "
    "place") {
    const nw::test::TemporaryFolder folder;
    const std::string file = folder.path() + "/machine.json";
    std::ofstream(file) << R"({"bw": [[6, 3, 1], [3, 6, 1], [1, 1, 6]]})";
    FakeOs os(3, 1);
    const auto policy = weighted_placement.make(os, {.machine_file = file,
                                                     .huge_pages = HugePages::off,
                                                     .places = {{0, NodeId{0}}},
                                                     .slots = {}});
    REQUIRE(policy->period_seconds() > 0);
    PlacementPeriod period;
    period.cpu_seconds = 0.25;
    // The worker's node 0 has 60 % of the pages at first. The run is fastest if node 0 has 80 %.
    const double speeds[] = {1000, 1010, 1020, 1005, 900};
    period.has_caught_up = false;
    for (int i = 0; i < 100; ++i) policy->on_period(period);
    CHECK(policy->changes() == 0);
    period.has_caught_up = true;
    for (int i = 0; i < 100; ++i) {
        period.committed_events =
            static_cast<std::uint64_t>(speeds[std::min(policy->changes(), 4U)]);
        policy->on_period(period);
    }
    CHECK(policy->changes() == 4);
    CHECK(policy->report() ==
          "pages on nodes 0 80.0 %, 1 15.0 %, 2 5.0 %; proximity 0.50; by " + file);
    std::map<NodeId, int> count;
    for (std::uint64_t number = 0; number < 10'000; ++number)
        ++count[policy->node_of(page(number), NodeId{1})];
    CHECK(count[NodeId{0}] == Approx(8000).epsilon(0.01));
}

TEST_CASE(
    "placement policies: weights follow workers to other nodes and proximity is tuned again") {
    const nw::test::TemporaryFolder folder;
    const std::string file = folder.path() + "/machine.json";
    std::ofstream(file) << R"({"bw": [[6, 3, 1], [3, 6, 1], [1, 1, 6]]})";
    FakeOs os(3, 1);
    const auto policy = weighted_placement.make(os, {.machine_file = file,
                                                     .huge_pages = HugePages::off,
                                                     .places = {{0, NodeId{0}}},
                                                     .slots = {}});
    PlacementPeriod period;
    period.cpu_seconds = 0.25;
    for (int i = 0; i < 12; ++i) {
        ++period.committed_events;
        policy->on_period(period);
    }
    REQUIRE(policy->changes() == 2);
    const Topology topology(os);
    policy->on_cpus(topology, {{1, NodeId{0}}});
    CHECK(policy->changes() == 2);
    policy->on_cpus(topology, {{1, NodeId{1}}});
    CHECK(policy->changes() == 3);
    CHECK(policy->report() ==
          "pages on nodes 0 30.0 %, 1 60.0 %, 2 10.0 %; proximity 0.00 (the search has not ended); "
          "by " +
              file);
    std::map<NodeId, int> count;
    for (std::uint64_t number = 0; number < 10'000; ++number)
        ++count[policy->node_of(page(number), NodeId{1})];
    CHECK(count[NodeId{1}] == Approx(6000).epsilon(0.01));
}

TEST_CASE(
    "placement policies: a given proximity is not searched and is combined with the kernel's "
    "weights") {
    const nw::test::TemporaryFolder folder;
    const std::string file = folder.path() + "/machine.json";
    std::ofstream(file) << R"({"bw": [[6, 3, 1], [3, 6, 1], [1, 1, 6]]})";
    FakeOs os(3, 1);
    os.set_interleave_weights({60, 30, 10});
    const auto policy = weighted_placement.make(os, {.machine_file = file,
                                                     .proximity = 0.5,
                                                     .huge_pages = HugePages::off,
                                                     .places = {{0, NodeId{0}}},
                                                     .slots = {}});
    CHECK(policy->period_seconds() == 0);
    CHECK(policy->report() ==
          "pages on nodes 0 80.0 %, 1 15.0 %, 2 5.0 %; proximity 0.50 (given); by " + file);
    CHECK(policy->post_for_new_pages(os, nullptr, 4096) == 0);
    CHECK(os.count(FakeOs::Call::interleave_new_pages) == 0);
    const auto share_on = [&](int node) {
        int count = 0;
        for (std::uint64_t number = 0; number < 10'000; ++number)
            count += policy->node_of(page(number), NodeId{1}) == NodeId{node};
        return count / 10'000.0;
    };
    CHECK(share_on(0) == Approx(0.8).epsilon(0.01));
    policy->on_cpus(Topology(os), {{1, NodeId{1}}});
    CHECK(policy->changes() == 1);
    CHECK(share_on(1) == Approx(0.8).epsilon(0.01));
}
