// SPDX-License-Identifier: Apache-2.0
#include "jobs/research/timed/plugin/cost_model.hpp"

#include "tests/support/catch.hpp"

using namespace nw::timed;

namespace {

constexpr std::uint64_t mib = 1 << 20, page = 4096, line = 64;
constexpr Picoseconds local = 60'000, remote = 126'000, walk = 15'000, second_hit = 7'500;

// Two nodes with two CPUs each. The first level has 64 lines, the second level has 1,024 lines.
CostRules two_nodes() {
    CostRules rules;
    CHECK(rules.set("memory", {16 * mib, 16 * mib}));
    CHECK(rules.set("cpus", {0, 0, 1, 1}));
    CHECK(rules.set("l1", {6, 8, 8, 1}));
    CHECK(rules.set("l2", {6, 64, 16, 1}));
    CHECK(rules.set("tlb1", {1, 64, 1, 64, 0}));
    CHECK(rules.set("tlb2", {1, 64, 1, 64, 0}));
    CHECK(rules.set("hit", {1'500, second_hit}));
    CHECK(rules.set("walk", {walk}));
    CHECK(rules.set("latency", {local, remote, remote, local}));
    CHECK(rules.set("overlap", {10}));
    CHECK(rules.is_complete());
    return rules;
}

struct Model : CostModel {
    explicit Model(CostRules with = two_nodes()) : CostModel(std::move(with)) {}
    // The address is the offset, so the page counts as a huge page. Only the first access to a huge
    // page costs a walk.
    Picoseconds load(unsigned cpu, std::uint64_t offset, unsigned bytes = 8) {
        return cost_of(cpu, {offset, offset, bytes, false}, 0);
    }
    Picoseconds store(unsigned cpu, std::uint64_t offset) {
        return cost_of(cpu, {offset, offset, 8, true}, 0);
    }
};

}  // namespace

TEST_CASE("CostModel: a miss costs the latency between the CPU's node and the page's node") {
    Model model;
    model.load(0, 0);
    model.load(0, 16 * mib);
    model.load(2, 16 * mib + 5 * page);
    CHECK(model.load(0, 10 * page) == local);
    CHECK(model.load(0, 10 * page) == 0);
    CHECK(model.load(0, 16 * mib + 10 * page) == remote);
    CHECK(model.load(2, 16 * mib + 20 * page) == local);
    CHECK(model.counts(0).memory[0] == 2);
    CHECK(model.counts(0).memory[1] == 2);
    CHECK(model.counts(2).memory[1] == 2);
}

TEST_CASE("CostModel: stores and misses of the first level are counted") {
    Model model;
    model.load(0, 0);
    model.store(0, 0);
    model.load(0, 10 * page);
    for (unsigned way = 1; way <= 8; ++way) model.load(0, way * 8 * line);
    model.load(0, 0);  // only in the second level
    CHECK(model.counts(0).accesses == 12);
    CHECK(model.counts(0).stores == 1);
    CHECK(model.counts(0).first_misses == 11);
    CHECK(model.counts(0).memory[0] == 10);
}

TEST_CASE("CostModel: misses of consecutive lines overlap, and so do misses of stores") {
    Model model;
    model.load(0, 0);
    CHECK(model.load(0, line) == local / 10);
    CHECK(model.load(0, 2 * line) == local / 10);
    CHECK(model.load(0, 100 * page) == local);
    CHECK(model.store(0, 200 * page) == local / 10);
    // An access to two lines.
    CHECK(model.load(0, 300 * page + line - 4) == local + local / 10);
}

TEST_CASE("CostModel: a line in the second level costs the time of this level") {
    Model model;
    for (std::uint64_t i = 0; i < 512; ++i) model.load(0, i * line);
    CHECK(model.load(0, 300 * line) == second_hit);
    CHECK(model.load(0, 300 * line) == 0);
    CHECK(model.load(0, 301 * line) == second_hit / 10);
    CHECK(model.store(0, 100 * line) == second_hit / 10);
}

TEST_CASE("CostModel: a hit in a cache costs no more than the same access to memory") {
    Model model;
    for (std::uint64_t i = 0; i < 512; ++i) model.load(0, i * line);
    const Picoseconds load = model.load(0, 2 * line), stream = model.load(0, 3 * line),
                      store = model.store(0, 40 * line);
    CHECK(load <= model.load(0, 100 * page));
    CHECK(stream <= model.load(0, 100 * page + line));
    CHECK(store <= model.store(0, 200 * page));
}

TEST_CASE("CostModel: a line that another CPU has written comes from the caches of its node") {
    Model model;
    model.load(0, 0);
    model.load(2, 0);
    model.store(0, 50 * page);
    CHECK(model.load(1, 50 * page) == walk + local);
    CHECK(model.load(2, 50 * page) == remote);
    CHECK(model.counts(2).passed[0] == 1);
    CHECK(model.counts(2).memory[0] == 1);  // the first load
    // The page is on node 1, and the caches are on node 0.
    model.load(1, 16 * mib);
    model.store(0, 16 * mib + 50 * page);
    CHECK(model.load(1, 16 * mib + 50 * page) == local);
    CHECK(model.counts(1).passed[0] == 2);
    // Other CPUs have a copy, which they lose.
    CHECK(model.store(0, 50 * page) == local / 10);
    CHECK(model.counts(0).upgrades == 1);
    CHECK(model.store(0, 50 * page) == 0);
    CHECK(model.load(2, 50 * page) == remote);
}

TEST_CASE(
    "CostModel: a line that left a shared cache comes from memory, although a CPU has written it") {
    CostRules with = two_nodes();
    REQUIRE(with.set("l2", {6, 64, 16, 0}));  // shared by the two CPUs of a node
    Model model(with);
    model.load(1, 0);
    for (std::uint64_t i = 0; i < 2048; ++i) model.store(0, i * line);
    CHECK(model.load(1, 0) == local);
    CHECK(model.load(1, 1500 * line) == second_hit);
    CHECK(model.counts(1).passed[0] == 0);
}

TEST_CASE("CostModel: an access that no level of the TLB serves costs a walk") {
    Model model;
    const auto small_page = [&](std::uint64_t number) {
        // Bits 12 to 20 of the address and the offset differ: a small page.
        return model.cost_of(0, {(number ^ 1) * page, number * page, 8, false}, 0);
    };
    for (std::uint64_t number = 0; number < 200; ++number) small_page(number);
    CHECK(model.counts(0).walks == 200);
    CHECK(small_page(199) == 0);
    small_page(0);
    CHECK(model.counts(0).walks == 201);
}

TEST_CASE("CostModel: transfers wait for room in a link") {
    CostRules with = two_nodes();
    REQUIRE(with.set("link", {0, 640, 640, 0}));  // ten lines per microsecond
    Model model(with);
    for (std::uint64_t i = 0; i < 10; ++i) model.load(0, 16 * mib + 2 * i * page);
    CHECK(model.load(0, 16 * mib + 40 * page) == 1'000'000 + remote);
    CHECK(model.counts(0).waited == 1'000'000);
    CHECK(model.load(2, 16 * mib + 50 * page) == walk + local);
}

TEST_CASE(
    "CostModel: transfers of all CPUs wait for room in a memory, and the longer wait counts") {
    CostRules with = two_nodes();
    REQUIRE(with.set("bandwidth", {0, 640}));
    REQUIRE(with.set("link", {0, 320, 0, 0}));
    Model model(with);
    for (std::uint64_t i = 0; i < 5; ++i) model.load(0, 16 * mib + 2 * i * page);
    for (std::uint64_t i = 5; i < 10; ++i) model.load(2, 16 * mib + 2 * i * page);
    // The walk takes a part of the time until the memory has room.
    CHECK(model.load(3, 16 * mib + 40 * page) == 1'000'000 + local);
    // Five lines per microsecond: the link has room in the second window, and the memory, too.
    CHECK(model.load(0, 16 * mib + 60 * page) == 1'000'000 + remote);
    for (std::uint64_t i = 0; i < 4; ++i) model.load(0, 16 * mib + (100 + 2 * i) * page);
    CHECK(model.load(0, 16 * mib + 120 * page) == 2'000'000 + remote);
}
