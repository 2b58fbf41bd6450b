// SPDX-License-Identifier: Apache-2.0
// Tests partitions of LPs into groups. A partition that is made from a saved partition has the same
// groups, with any numbers of ranks and workers.
#include "plan/partition.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plan/run_plan.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

namespace nw::test {
namespace {

// Returns a setup whose LPs are partitioned in blocks, in METIS's parts, in the model's own parts,
// by likeness, or on the ranks that the model chooses.
Setup draw_setup(Dice& dice) {
    Setup setup;
    setup.lps = static_cast<std::uint32_t>(1 + dice.below(300));
    const std::size_t kind = dice.below(5);
    for (std::uint32_t lp = 0; kind == 1 && lp < setup.lps; ++lp)
        setup.links.push_back({LpId{lp}, LpId{(lp * 7 + 1) % setup.lps}, 1 + lp % 3});
    for (std::uint32_t lp = 0; kind == 2 && lp < setup.lps; ++lp)
        setup.parts.push_back(static_cast<std::uint32_t>(dice.below(9)));
    if (kind == 3)
        setup.likeness = [first = dice.below(setup.lps.count())](LpId lp) {
            return index(lp) < first ? 0u : 1u;
        };
    if (kind == 4) setup.rank_of = [](LpId lp) { return index(lp) * 5 / 3; };
    return setup;
}

TEST_CASE("Partition: after a restart on other ranks each LP keeps its place in its group") {
    std::size_t with_own_order = 0;
    for (const std::uint64_t seed : test_seeds(200)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        const Setup setup = draw_setup(dice);
        const auto draw = [&](std::size_t most) {
            return static_cast<std::uint32_t>(1 + dice.below(most));
        };
        const std::uint32_t group_sizes[] = {0, 1, 3, 64, 1000};
        const Partition old(setup, draw(4), draw(4), group_sizes[dice.below(5)]);
        const SavedPartition saved = old.save();
        with_own_order += saved.slot_of_lp.empty() ? 0 : 1;
        const std::uint32_t ranks = draw(5), workers = draw(5);
        const Partition now(setup, saved, ranks, workers);

        REQUIRE(now.lps() == old.lps());
        REQUIRE(now.groups() == old.groups());
        REQUIRE(now.lps_per_group() == old.lps_per_group());
        for (std::uint32_t lp = 0; lp < setup.lps; ++lp) {
            REQUIRE(now.position(lp).group == old.position(lp).group);
            REQUIRE(now.position(lp).index == old.position(lp).index);
        }
        std::set<std::pair<std::uint16_t, std::uint16_t>> owners;
        for (std::uint32_t g = 0; g < now.groups(); ++g) {
            REQUIRE(now.members(g) == old.members(g));
            const Partition::Owner owner = now.first_owner(g);
            REQUIRE(owner.rank < ranks);
            REQUIRE(owner.worker < workers);
            REQUIRE((setup.likeness || setup.rank_of || owners.empty() ||
                     *owners.rbegin() <= std::pair{owner.rank, owner.worker}));
            owners.insert({owner.rank, owner.worker});
        }
        // Every worker has a group if there are enough groups.
        REQUIRE((setup.rank_of || owners.size() == std::min(now.groups(), ranks * workers)));
    }
    if (test_seeds(2).size() > 1) REQUIRE(with_own_order > 0);
}

TEST_CASE("Partition: more workers than a 16-bit number can count have different groups") {
    constexpr std::uint32_t ranks = 20, workers = 4'096;
    Setup setup;
    setup.lps = ranks * workers;
    const auto check = [&](const Partition& partition) {
        REQUIRE(partition.groups() == ranks * workers);
        for (std::uint32_t g = 0; g < partition.groups(); ++g) {
            const Partition::Owner owner = partition.first_owner(g);
            REQUIRE(std::uint32_t{owner.rank} * workers + owner.worker == g);
        }
    };
    const Partition blocks(setup, ranks, workers, 1);
    check(blocks);
    check(Partition(setup, blocks.save(), ranks, workers));
}

TEST_CASE("Partition: each worker has its share of each kind in contiguous ranges") {
    Setup setup;
    SECTION("kinds with names") { setup.lps = kinds({{"node", 512}, {"host", 256}}); }
    SECTION("likeness by a number") {
        setup.lps = 768;
        setup.likeness = [](LpId lp) { return index(lp) < 512 ? 7u : 3u; };
    }
    constexpr std::uint32_t ranks = 2, workers = 2;
    const auto check = [&](const Partition& partition) {
        std::vector<std::vector<std::uint32_t>> nodes(4), hosts(4);
        for (std::uint32_t lp = 0; lp < 768; ++lp) {
            const Partition::Owner owner = partition.first_owner(partition.position(lp).group);
            (lp < 512 ? nodes : hosts)[owner.rank * workers + owner.worker].push_back(lp);
        }
        for (std::uint32_t w = 0; w < 4; ++w) {
            REQUIRE(nodes[w].size() == 128);
            REQUIRE(nodes[w].back() - nodes[w].front() == 127);
            REQUIRE(hosts[w].size() == 64);
            REQUIRE(hosts[w].back() - hosts[w].front() == 63);
        }
    };
    const Partition partition(setup, ranks, workers, 32);
    check(partition);
    check(Partition(setup, partition.save(), ranks, workers));
}

TEST_CASE("Partition: workers get LPs in proportion to their shares") {
    Setup setup;
    setup.lps = 1'200;
    SECTION("in blocks") {}
    SECTION("by links") {
        for (std::uint32_t lp = 0; lp < 1'200; ++lp)
            setup.links.push_back({LpId{lp}, LpId{(lp + 1) % 1'200}, 1});
    }
    SECTION("by kinds") { setup.lps = kinds({{"node", 900}, {"host", 300}}); }
    const Partition partition(setup, 1, 3, 10, {0.5, 1, 0.5});
    std::vector<double> counts(3);
    for (std::uint32_t lp = 0; lp < 1'200; ++lp)
        ++counts[partition.first_owner(partition.position(lp).group).worker];
    CHECK(counts[0] == Approx(300).epsilon(0.05));
    CHECK(counts[1] == Approx(600).epsilon(0.05));
    CHECK(counts[2] == Approx(300).epsilon(0.05));
}

TEST_CASE(
    "Partition: LPs start on the rank from rank_of(), and the workers of the rank share them by "
    "likeness") {
    Setup setup;
    setup.lps = 600;
    setup.rank_of = [](LpId lp) { return index(lp) * 7 + 3; };
    setup.likeness = [](LpId lp) { return index(lp) < 200 ? 0u : 1u; };
    constexpr std::uint32_t ranks = 3, workers = 2;
    std::vector<std::uint32_t> few(ranks * workers), many(ranks * workers);
    const auto count = [&](const Partition& partition) {
        for (std::uint32_t lp = 0; lp < 600; ++lp) {
            const Partition::Owner owner = partition.first_owner(partition.position(lp).group);
            REQUIRE(owner.rank == (lp * 7 + 3) % ranks);
            ++(lp < 200 ? few : many)[owner.rank * workers + owner.worker];
        }
    };
    const Partition partition(setup, ranks, workers, 16);
    count(Partition(setup, partition.save(), ranks, workers));
    few.assign(ranks * workers, 0);
    many = few;
    count(partition);
    const auto within_one = [](const std::vector<std::uint32_t>& counts) {
        const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
        return *most - *least <= 1;
    };
    REQUIRE(within_one(few));
    REQUIRE(within_one(many));
}

TEST_CASE("Partition: every worker has groups if each of many kinds has one group") {
    Setup setup;
    setup.lps = 12;
    setup.likeness = [](LpId lp) { return index(lp) / 2; };
    const Partition partition(setup, 1, 3, 2);
    std::vector<std::uint32_t> groups_of(3);
    for (std::uint32_t g = 0; g < 6; ++g) ++groups_of[partition.first_owner(g).worker];
    REQUIRE(groups_of == std::vector<std::uint32_t>{2, 2, 2});
}

// Returns the slot of each LP. The order of slots is part by part, and by LP number within a part.
std::vector<std::uint32_t> slots_by_parts(const std::vector<std::uint32_t>& part,
                                          std::uint32_t parts) {
    std::vector<std::uint32_t> slots(part.size());
    std::uint32_t next = 0;
    for (std::uint32_t p = 0; p < parts; ++p, next += 3)  // three slots stay empty
        for (std::size_t lp = 0; lp < part.size(); ++lp)
            if (part[lp] == p) slots[lp] = next++;
    return slots;
}

void check_map(const SlotMap& map, const std::vector<std::uint32_t>& slots, std::uint32_t end) {
    std::vector<std::uint32_t> lp_of(end, SlotMap::no_lp);
    std::size_t wrong = 0;
    for (std::uint32_t lp = 0; lp < slots.size(); ++lp) {
        wrong += map.slot_of(lp) != slots[lp] ? 1 : 0;
        lp_of[slots[lp]] = lp;
    }
    for (std::uint32_t slot = 0; slot < end; ++slot)
        wrong += map.lp_of(slot) != lp_of[slot] ? 1 : 0;
    REQUIRE(wrong == 0);
}

TEST_CASE("SlotMap: runs and tables return the same slots and runs need little memory") {
    constexpr std::uint32_t parts = 16;
    std::size_t with_runs = 0, with_table = 0;
    for (const std::uint64_t seed : test_seeds(20)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        const std::size_t lps =
            dice.chance(0.3) ? 1 + dice.below(1000) : 70'000 + dice.below(50'000);
        const std::size_t longest = dice.chance(0.3) ? 5 : 1000;
        std::vector<std::uint32_t> part;
        while (part.size() < lps)
            part.insert(part.end(), std::min(1 + dice.below(longest), lps - part.size()),
                        static_cast<std::uint32_t>(dice.below(parts)));
        const std::vector<std::uint32_t> slots = slots_by_parts(part, parts);
        const auto end = static_cast<std::uint32_t>(lps + 3 * parts);
        const SlotMap map(static_cast<std::uint32_t>(lps), end,
                          [&] { return [&](std::uint32_t lp) { return slots[lp]; }; });
        check_map(map, slots, end);
        CHECK_FALSE(map.is_in_order());
        const bool is_table = map.bytes() >= 8 * lps;
        ++(is_table ? with_table : with_runs);
        CHECK(is_table == (lps < 65'536 || longest == 5));
        if (!is_table) CHECK(map.bytes() < lps);
    }
    if (test_seeds(2).size() > 1) {
        REQUIRE(with_runs > 0);
        REQUIRE(with_table > 0);
    }
}

TEST_CASE("Partition: 100 million LPs on 1024 ranks need no memory per LP") {
    Setup setup;
    setup.lps = 100'000'000;
    const Partition partition(setup, 1024, 1, 0);
    REQUIRE(partition.groups() >= 4 * 1024);
    CHECK(partition.bytes() < 64 * 1024);
    CHECK(partition.position(setup.lps - 1).group == partition.groups() - 1);
}

std::string refusal(std::uint32_t ranks) {
    Setup setup;
    setup.lps = 1;
    setup.until = 1;
    try {
        const RunPlan plan(setup, Config{}, ranks, 1, nullptr);
    } catch (const SetupError& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("RunPlan: too many ranks for an owner number are refused") {
    CHECK(refusal(65'536) == "");
    CHECK(refusal(65'537) == "65537 ranks; allowed: at most 65536");
}

}  // namespace
}  // namespace nw::test
