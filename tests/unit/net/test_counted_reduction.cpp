// SPDX-License-Identifier: Apache-2.0
// A rank gets the result of a reduction when all messages that were sent to it before have arrived,
// with any delays of the network.
#include "net/counted_reduction.hpp"

#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/in_process_network.hpp"
#include "tests/support/random_cases.hpp"

namespace nw::test {
namespace {

struct Count {
    std::uint64_t ranks = 0;
    void combine(const Count& other) noexcept { ranks += other.ranks; }
};
using Reduction = CountedReduction<Count>;

// A rank that sends at any time, and begins a reduction whenever none is under way.
class RestlessRank {
  public:
    RestlessRank(Transport& transport, std::uint32_t ranks)
        : transport_(transport), reduction_(transport, true), part_(reduction_.new_part()) {
        part_.sums.ranks = 1;
        REQUIRE(part_.sent.size() == ranks);
    }

    // Returns the stamp of the message.
    std::uint32_t send(std::uint32_t to) {
        transport_.send(RankId{to}, std::as_bytes(std::span(&stamp_, 1)));
        ++part_.sent[to];
        return stamp_;
    }
    void receive() {
        transport_.receive(4, [&](std::span<const std::byte> bytes) {
            std::uint32_t stamp = 0;
            std::memcpy(&stamp, bytes.data(), sizeof stamp);
            reduction_.receive(stamp);
            ++received_[stamp];
        });
    }
    void begin() {
        if (reduction_.is_under_way()) return;
        reduction_.begin(std::array{part_});
        ++stamp_;
        part_.sent.assign(part_.sent.size(), 0);
    }
    // Returns whether the reduction with the stamp stamp() - 1 has ended.
    bool poll() {
        if (!reduction_.is_under_way()) return false;
        const bool ended = reduction_.poll(stamp_ - 1);
        if (reduction_.is_receiving()) ++waits_;
        return ended;
    }

    std::uint32_t stamp() const { return stamp_; }
    std::uint64_t received(std::uint32_t stamp) { return received_[stamp]; }
    std::uint64_t waits() const { return waits_; }
    std::uint64_t ranks() const { return reduction_.result().ranks; }

  private:
    Transport& transport_;
    Reduction reduction_;
    Reduction::Part part_;
    std::uint32_t stamp_ = 0u - 3;  // wraps soon
    std::map<std::uint32_t, std::uint64_t> received_;
    std::uint64_t waits_ = 0;
};

TEST_CASE("CountedReduction: the result is available when all messages sent before have arrived") {
    std::uint64_t ended = 0, waits = 0;
    for (const std::uint64_t seed : test_seeds(20)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        const auto count = static_cast<std::uint32_t>(2 + dice.below(4));
        InProcessNetwork network(count, seed,
                                 {.delay_max = 40, .stall_probability = 0.01, .stall_max = 100});
        std::vector<RestlessRank> ranks;
        for (std::uint32_t r = 0; r < count; ++r) ranks.emplace_back(network.rank(r), count);
        std::vector<std::map<std::uint32_t, std::uint64_t>> sent_to(count);
        for (int turn = 0; turn < 4000; ++turn) {
            network.tick();
            const auto r = static_cast<std::uint32_t>(dice.below(count));
            const auto to = static_cast<std::uint32_t>(dice.below(count));
            if (to != r && dice.chance(0.5)) ++sent_to[to][ranks[r].send(to)];
            if (dice.chance(0.5)) ranks[r].receive();
            if (dice.chance(0.3)) ranks[r].begin();
            if (!ranks[r].poll()) continue;
            ++ended;
            const std::uint32_t stamp = ranks[r].stamp() - 1;
            REQUIRE(ranks[r].received(stamp) == sent_to[r][stamp]);
            REQUIRE(ranks[r].ranks() == count);
        }
        for (const RestlessRank& rank : ranks) waits += rank.waits();
    }
    CHECK(ended > 500);
    CHECK(waits > 100);
}

}  // namespace
}  // namespace nw::test
