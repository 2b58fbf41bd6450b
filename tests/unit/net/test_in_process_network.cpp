// SPDX-License-Identifier: Apache-2.0
// Tests the network of the stepped tests. With any delays and stalls, every batch arrives once and
// complete, some batches arrive late and out of order, and a reduction has the same result on all
// ranks.
#include "tests/support/in_process_network.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "net/counted_reduction.hpp"
#include "net/rank_group.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"
#include "util/check.hpp"

namespace nw::test {
namespace {

struct Letter {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t number;
    friend auto operator<=>(const Letter&, const Letter&) = default;
};

void send(Transport& transport, const Letter& letter) {
    transport.send(RankId{letter.to}, std::as_bytes(std::span(&letter, 1)));
}

struct Sum {
    std::uint64_t sum = 0;
    std::uint32_t least = UINT32_MAX;

    void combine(const Sum& other) noexcept {
        sum += other.sum;
        least = std::min(least, other.least);
    }
};

using Reduction = CountedReduction<Sum>;

void begin(Reduction& reduction, const Sum& own) {
    reduction.begin(std::array{Reduction::Part{.sums = own, .sent = {}}});
}

NetworkWeather draw_weather(Dice& dice) {
    return {.delay_max = static_cast<std::uint32_t>(dice.below(40)),
            .stall_probability = dice.chance(0.5) ? 0.05 : 0.0,
            .stall_max = static_cast<std::uint32_t>(dice.below(100))};
}

TEST_CASE(
    "InProcessNetwork: every batch arrives once at its receiver and some batches overtake others") {
    std::size_t overtaken = 0, late = 0;
    for (const std::uint64_t seed : test_seeds(30)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        const auto ranks = static_cast<std::uint32_t>(2 + dice.below(4));
        InProcessNetwork network(ranks, seed, draw_weather(dice));
        std::set<Letter> under_way;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> newest;
        std::uint32_t sent = 0;
        const auto receive_all = [&] {
            for (std::uint32_t r = 0; r < ranks; ++r)
                network.rank(r).receive(4, [&](std::span<const std::byte> bytes) {
                    Letter letter;
                    REQUIRE(bytes.size() == sizeof letter);
                    std::memcpy(&letter, bytes.data(), sizeof letter);
                    REQUIRE(letter.to == r);
                    REQUIRE(under_way.erase(letter) == 1);
                    std::uint32_t& last = newest[{letter.from, letter.to}];
                    overtaken += letter.number < last;
                    last = std::max(last, letter.number);
                });
        };
        for (int step = 0; step < 500; ++step) {
            const auto from = static_cast<std::uint32_t>(dice.below(ranks));
            const auto to = static_cast<std::uint32_t>(dice.below(ranks));
            if (from != to) {
                const Letter letter{from, to, ++sent};
                send(network.rank(from), letter);
                under_way.insert(letter);
            }
            receive_all();
            late += !under_way.empty();
            REQUIRE(network.idle() == under_way.empty());
            network.tick();
        }
        for (int step = 0; step < 2000 && !network.idle(); ++step) {
            network.tick();
            receive_all();
        }
        REQUIRE(under_way.empty());
    }
    if (test_seeds(2).size() > 1) {
        REQUIRE(overtaken > 0);
        REQUIRE(late > 0);
    }
}

TEST_CASE("InProcessNetwork: receive() delivers at most the requested number of batches") {
    InProcessNetwork network(2, 1, {.delay_max = 0, .stall_probability = 0, .stall_max = 0});
    for (std::uint32_t n = 0; n < 10; ++n) send(network.rank(0), {0, 1, n});
    int taken = 0;
    network.rank(1).receive(3, [&](std::span<const std::byte>) { ++taken; });
    CHECK(taken == 3);
    network.rank(1).receive(100, [&](std::span<const std::byte>) { ++taken; });
    CHECK(taken == 10);
    CHECK(network.idle());
}

TEST_CASE(
    "InProcessNetwork: a reduction ends after all ranks contribute, with an equal result on each") {
    for (const std::uint64_t seed : test_seeds(20)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        const auto ranks = static_cast<std::uint32_t>(1 + dice.below(5));
        InProcessNetwork network(ranks, seed, draw_weather(dice));
        std::vector<Reduction> reductions;
        for (std::uint32_t r = 0; r < ranks; ++r) reductions.emplace_back(network.rank(r), false);
        for (std::uint64_t round = 1; round <= 10; ++round) {
            for (std::uint32_t r = 0; r < ranks; ++r) {
                begin(reductions[r], {round * (r + 1), 100 - r});
                if (r + 1 < ranks) REQUIRE(!reductions[r].poll(0));
                network.tick();
            }
            for (Reduction& reduction : reductions) {
                for (int wait = 0; wait < 100 && !reduction.poll(0); ++wait) network.tick();
                REQUIRE_FALSE(reduction.is_under_way());
                REQUIRE(reduction.result().sum == round * ranks * (ranks + 1) / 2);
                REQUIRE(reduction.result().least == 100 - (ranks - 1));
            }
        }
    }
}

TEST_CASE("InProcessNetwork: the same seed gives the same delays") {
    const auto play = [](std::uint64_t seed) {
        InProcessNetwork network(3, seed);
        std::vector<std::uint32_t> order;
        for (std::uint32_t n = 0; n < 200; ++n) {
            send(network.rank(n % 3), {n % 3, (n + 1) % 3, n});
            network.tick();
            for (std::uint32_t r = 0; r < 3; ++r)
                network.rank(r).receive(9, [&](std::span<const std::byte> bytes) {
                    Letter letter;
                    std::memcpy(&letter, bytes.data(), sizeof letter);
                    order.push_back(letter.number);
                });
        }
        return order;
    };
    CHECK(play(5) == play(5));
    CHECK(play(5) != play(6));
}

TEST_CASE("Transport: no rank sends to itself and a single rank sends nothing") {
    InProcessNetwork network(2, 1);
    CHECK_THROWS_AS(send(network.rank(0), {0, 0, 1}), InternalError);
    SingleProcess alone;
    CHECK(alone.ranks() == 1);
    CHECK(alone.share("mine") == std::vector<std::string>{"mine"});
    CHECK_THROWS_AS(alone.send(RankId{0}, ""), InternalError);
    CHECK_THROWS_AS(alone.receive(RankId{0}), InternalError);
    const auto transport = alone.open_transport(0);
    CHECK_THROWS_AS(transport->send(RankId{0}, {}), InternalError);
    Reduction reduction(*transport, false);
    begin(reduction, {5, 6});
    REQUIRE(reduction.poll(0));
    CHECK(reduction.result().sum == 5);
    CHECK(reduction.result().least == 6);
}

}  // namespace
}  // namespace nw::test
