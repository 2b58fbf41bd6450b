// SPDX-License-Identifier: Apache-2.0
// Goal: with any number of posted batches, a step of the net role sends a bounded number of batches
// before it receives, and a bounded number of batches is under way.
//
// Method: two ranks each post 20,000 batches for the other. On their transport, a send completes
// only when the other rank has received the batch.
#include "net/exchange.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

using Bytes = std::vector<std::byte>;

class SlowTransport final : public Transport {
  public:
    explicit SlowTransport(std::uint32_t rank) : rank_(rank) {}
    void connect(SlowTransport& other) { other_ = &other; }

    RankId rank() const noexcept override { return RankId{rank_}; }
    std::uint32_t ranks() const noexcept override { return 2; }
    void send(RankId, std::span<const std::byte> batch) override {
        other_->arriving_.emplace_back(batch.begin(), batch.end());
    }
    std::size_t sends_under_way() const noexcept override { return other_->arriving_.size(); }
    void receive(std::size_t batches_max, const Receive& take) override {
        for (std::size_t n = 0; n < batches_max && !arriving_.empty(); ++n) {
            take(arriving_.front());
            arriving_.pop_front();
        }
    }
    void begin_reduce_bytes(std::span<const std::byte>, Combine) override {}
    bool poll_reduce_bytes(std::span<std::byte>) override { return false; }

  private:
    std::uint32_t rank_;
    SlowTransport* other_ = nullptr;
    std::deque<Bytes> arriving_;
};

TEST_CASE("Exchange: two ranks with many batches for each other alternate sending and receiving") {
    constexpr std::uint32_t posted = 20'000;
    std::array<SlowTransport, 2> transports{SlowTransport(0), SlowTransport(1)};
    transports[0].connect(transports[1]);
    transports[1].connect(transports[0]);
    std::array<Exchange, 2> exchanges{Exchange(transports[0]), Exchange(transports[1])};
    std::array<std::uint32_t, 2> received{};
    for (std::uint32_t number = 0; number < posted; ++number)
        for (const std::uint32_t r : {0u, 1u})
            exchanges[r].post(RankId{1 - r}, std::as_bytes(std::span(&number, 1)));
    // Rank 1 takes no step before step 100.
    for (int step = 0; received[0] < posted || received[1] < posted; ++step) {
        REQUIRE(step < 10'000);
        for (const std::uint32_t r : {0u, 1u}) {
            if (r == 1 && step < 100) continue;
            REQUIRE(exchanges[r].send() <= Exchange::batches_sent_per_step);
            REQUIRE(transports[r].sends_under_way() <= Exchange::sends_under_way_max);
            exchanges[r].receive([&](std::span<const std::byte> batch) {
                std::uint32_t number = 0;
                std::memcpy(&number, batch.data(), sizeof number);
                REQUIRE(number == received[r]++);
            });
        }
        if (step == 99) REQUIRE(exchanges[0].unsent() == posted - Exchange::sends_under_way_max);
    }
    for (const Exchange& exchange : exchanges) CHECK(exchange.unsent() == 0);
}

}  // namespace
}  // namespace nw::test
