// SPDX-License-Identifier: Apache-2.0
// Compares the pending set with std::set: for every mix of pushes and pops, both must return the
// same entries in the same order.
//
// Each case draws from its seed the distribution of times (scale, ties, bursts, jumps, tails), the
// number of entries, and the kinds of pushes that occur, because such structures fail at unusual
// mixes. NUMAWARP_TEST_SEED repeats a case.
#include "event/pending_set.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/random_cases.hpp"

namespace {

using nw::PendingEntry;
using nw::PendingSet;

struct Before {
    bool operator()(const PendingEntry& a, const PendingEntry& b) const { return before(a, b); }
};

class Twin {
  public:
    void push(double time) {
        // The sequence makes keys unique. Equal times are frequent, so that the other members of
        // the key matter, too.
        const auto any = [this](std::uint32_t bound) {
            return static_cast<std::uint32_t>(random_()) % bound;
        };
        const PendingEntry entry{time, any(2), any(8), count_, any(100), 0};
        ++count_;
        tested.push(entry);
        model.insert(entry);
    }

    void pop() {
        const PendingEntry* top = tested.top();
        REQUIRE(top != nullptr);
        const PendingEntry& expected = *model.begin();
        const bool same = top->key() == expected.key() && top->target == expected.target &&
                          top->body == expected.body;
        if (!same) FAIL("popped " << top->time << " instead of " << expected.time);
        tested.pop();
        now = expected.time;
        model.erase(model.begin());
    }

    // Removes the entries of one target.
    void take(std::uint32_t target) {
        std::set<PendingEntry, Before> expected;
        std::erase_if(model, [&](const PendingEntry& entry) {
            if (entry.target != target) return false;
            expected.insert(entry);
            return true;
        });
        std::vector<PendingEntry> taken;
        tested.take_if([&](const PendingEntry& entry) { return entry.target == target; }, taken);
        REQUIRE(taken.size() == expected.size());
        for (const PendingEntry& entry : taken) expected.erase(entry);
        REQUIRE(expected.empty());
    }

    void replace_each() {
        const auto replacement = [](PendingEntry entry) {
            entry.body += 4;
            return entry;
        };
        tested.replace_each(replacement);
        std::set<PendingEntry, Before> replaced;
        for (const PendingEntry& entry : model) replaced.insert(replaced.end(), replacement(entry));
        model = std::move(replaced);
    }

    void check() {
        REQUIRE(tested.size() == model.size());
        REQUIRE(tested.empty() == model.empty());
        REQUIRE(tested.validate());
        REQUIRE(tested.min_time() == (model.empty() ? nw::time_infinity : model.begin()->time));
        REQUIRE(tested.validate());
    }

    PendingSet tested;
    std::set<PendingEntry, Before> model;
    double now = 0;

  private:
    std::minstd_rand random_{1};
    std::uint32_t count_ = 0;
};

void run_case(std::uint64_t seed, std::size_t operations) {
    INFO("NUMAWARP_TEST_SEED=" << seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    const auto uniform = [&] { return std::uniform_real_distribution<double>()(random); };
    const auto yes = [&](double p) { return uniform() < p; };

    const double scale = std::pow(10.0, static_cast<double>(below(25)) - 9);
    const std::size_t wanted = std::size_t{1} << below(14);
    const double ties = yes(0.3) ? uniform() : 0;         // push at exactly the present time
    const double lattice = yes(0.3) ? uniform() : 0;      // push at a multiple of the scale
    const double late = yes(0.4) ? uniform() * 0.5 : 0;   // push into the past
    const double jumps = yes(0.3) ? uniform() * 0.1 : 0;  // push a million scales ahead
    const double tails = yes(0.3) ? uniform() : 0;        // push at a log-uniform distance
    const double bursts = yes(0.3) ? 0.01 : 0;            // push a thousand at once
    const double lookahead = yes(0.5) ? 0.1 : 0;

    Twin twin;
    const auto draw = [&] {
        if (yes(ties)) return twin.now;
        if (yes(lattice))
            return (std::floor(twin.now / scale) + static_cast<double>(below(4))) * scale;
        if (yes(late)) return twin.now * uniform();
        if (yes(jumps)) return twin.now + 1e6 * scale * uniform();
        if (yes(tails)) return twin.now + scale * std::pow(10.0, 20 * uniform() - 10);
        return twin.now + scale * (lookahead - std::log1p(-uniform()));
    };
    const auto step = [&] {
        if (yes(bursts)) {
            const double time = draw();
            const double spread = yes(0.5) ? 0 : scale * 1e-3;
            for (int i = 0; i < 1000; ++i) twin.push(time + spread * uniform());
        }
        // Grows to the wanted size and then stays close to it.
        const double fullness =
            static_cast<double>(twin.model.size()) / static_cast<double>(wanted);
        if (twin.model.empty() || yes(fullness < 1 ? 0.7 : 0.3))
            twin.push(draw());
        else
            twin.pop();
    };
    for (std::size_t i = 0; i < operations; ++i) {
        step();
        if (i % 4096 == 0) twin.check();
        if (yes(0.001)) twin.take(static_cast<std::uint32_t>(below(100)));
        if (yes(0.001)) twin.replace_each();
        if (yes(0.0002))
            while (twin.model.size() > below(wanted)) twin.pop();
    }
    twin.check();
    while (!twin.model.empty()) twin.pop();
    twin.check();
    REQUIRE(twin.tested.top() == nullptr);
}

TEST_CASE("PendingSet: agrees with std::set under random mixes of operations") {
    if (const auto seed = nw::test::seed_to_replay()) return run_case(*seed, 100'000);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) run_case(seed, 20'000);
}

TEST_CASE("PendingSet: nightly: agrees with std::set in a thousand random cases", "[.nightly]") {
    std::random_device device;
    const std::uint64_t start = (std::uint64_t{device()} << 32) | device();
    for (std::uint64_t seed = start; seed != start + 1000; ++seed) run_case(seed, 100'000);
}

TEST_CASE("PendingSet: an empty set has no top and its minimum time is infinity") {
    PendingSet set;
    CHECK(set.top() == nullptr);
    CHECK(set.min_time() == nw::time_infinity);
    CHECK(set.upcoming(0) == nullptr);
    CHECK(set.validate());
}

TEST_CASE(
    "PendingSet: entries of equal time are in the order of generation and sender and sequence") {
    Twin twin;
    for (int i = 0; i < 20'000; ++i) twin.push(5.0);
    twin.check();
    while (!twin.model.empty()) twin.pop();
}

TEST_CASE("PendingSet: the smallest and largest doubles are valid times") {
    Twin twin;
    const double largest = std::numeric_limits<double>::max();
    for (int i = 0; i < 200; ++i) {
        twin.push(0);
        twin.push(largest);
        twin.push(std::numeric_limits<double>::denorm_min() * i);
        twin.push(largest / (i + 1));
    }
    twin.check();
    for (int i = 0; i < 700; ++i) twin.pop();
    for (int i = 0; i < 200; ++i) twin.push(1.0 / (i + 1));
    twin.check();
    while (!twin.model.empty()) twin.pop();
    twin.check();
}

TEST_CASE("PendingSet: ten thousand late entries come first and in order") {
    Twin twin;
    for (int i = 0; i < 50'000; ++i) twin.push(i * 1e-3);
    for (int i = 0; i < 30'000; ++i) twin.pop();
    for (int i = 0; i < 10'000; ++i) twin.push(i * 3e-3);
    twin.check();
    while (!twin.model.empty()) twin.pop();
}

TEST_CASE("PendingSet: the entries that are left after removals come in order") {
    Twin twin;
    for (int i = 0; i < 50'000; ++i) twin.push(i * 1e-3);
    for (int i = 0; i < 10'000; ++i) twin.pop();
    for (std::uint32_t target = 0; target < 100; ++target) {
        twin.take(target);
        twin.check();
    }
    REQUIRE(twin.tested.empty());
    for (int i = 0; i < 100; ++i) twin.push(60 - i);
    twin.check();
    while (!twin.model.empty()) twin.pop();
}

TEST_CASE("PendingSet: upcoming() returns the next entries of the run if no entry is late") {
    PendingSet set;
    for (std::uint32_t i = 0; i < 1000; ++i) set.push({i * 0.01, 0, 0, i, i, 0});
    for (std::uint32_t i = 0; i < 1000; ++i) {
        REQUIRE(set.top() != nullptr);
        for (std::uint32_t k = 0; k < 4; ++k)
            if (const PendingEntry* next = set.upcoming(k)) REQUIRE(next->target == i + k);
        set.pop();
    }
}

TEST_CASE("PendingSet: a million entries need little more memory than their own bytes") {
    PendingSet set;
    std::mt19937_64 random(1);
    std::exponential_distribution<double> delay;
    for (std::uint32_t i = 0; i < 1'000'000; ++i) set.push({delay(random), 0, 0, i, i, 0});
    for (std::uint32_t i = 0; i < 1'000'000; ++i) {
        const PendingEntry entry = *set.top();
        set.pop();
        set.push({entry.time + 0.1 + delay(random), 0, 0, i, i, 0});
    }
    CHECK(set.validate());
    CHECK(static_cast<double>(set.bytes()) < 1.25 * 32e6);
}

}  // namespace
