// SPDX-License-Identifier: Apache-2.0
#include "tests/support/in_process_network.hpp"

#include <algorithm>
#include <utility>

#include "util/check.hpp"

namespace nw {

class InProcessNetwork::Endpoint final : public Transport {
  public:
    Endpoint(InProcessNetwork& network, std::uint32_t rank) : network_(network), rank_(rank) {}

    RankId rank() const noexcept override { return RankId{rank_}; }
    std::uint32_t ranks() const noexcept override {
        return static_cast<std::uint32_t>(network_.endpoints_.size());
    }

    void send(RankId destination, std::span<const std::byte> batch) override {
        NW_CHECK(index(destination) != rank_);
        network_.endpoints_.at(index(destination))
            ->inbox_.push_back({network_.now_ + network_.delay(), {batch.begin(), batch.end()}});
    }

    void receive(std::size_t batches_max, const Receive& take) override {
        if (network_.now_ < stalled_until_) return;
        for (std::size_t taken = 0; taken < batches_max; ++taken) {
            const auto arrived = std::find_if(inbox_.begin(), inbox_.end(), [&](const Batch& b) {
                return b.due <= network_.now_;
            });
            if (arrived == inbox_.end()) return;
            const Batch batch = std::move(*arrived);
            inbox_.erase(arrived);
            take(batch.bytes);
        }
    }

    void begin_reduce_bytes(std::span<const std::byte> own, Combine combine) override {
        Round& round = network_.round(rounds_begun_++);
        if (round.contributed == 0)
            round.sum.assign(own.begin(), own.end());
        else
            combine(round.sum.data(), own.data());
        if (++round.contributed < ranks()) return;
        for (std::uint32_t r = 0; r < ranks(); ++r)
            round.due.push_back(network_.now_ + network_.delay());
    }

    bool poll_reduce_bytes(std::span<std::byte> result) override {
        Round& round = network_.round(rounds_begun_ - 1);
        if (round.due.empty() || network_.now_ < round.due[rank_]) return false;
        NW_CHECK(result.size() == round.sum.size());
        std::copy(round.sum.begin(), round.sum.end(), result.begin());
        return true;
    }

    std::vector<Batch> inbox_;
    std::uint64_t stalled_until_ = 0;

  private:
    InProcessNetwork& network_;
    std::uint32_t rank_;
    std::uint64_t rounds_begun_ = 0;
};

InProcessNetwork::InProcessNetwork(std::uint32_t ranks, std::uint64_t seed, NetworkWeather weather)
    : random_(seed), weather_(weather) {
    for (std::uint32_t r = 0; r < ranks; ++r)
        endpoints_.push_back(std::make_unique<Endpoint>(*this, r));
}

InProcessNetwork::~InProcessNetwork() = default;

Transport& InProcessNetwork::rank(std::uint32_t rank) { return *endpoints_.at(rank); }

void InProcessNetwork::tick() {
    ++now_;
    for (auto& endpoint : endpoints_) {
        if (std::uniform_real_distribution<>(0, 1)(random_) < weather_.stall_probability)
            endpoint->stalled_until_ = now_ + random_() % (weather_.stall_max + 1);
    }
}

bool InProcessNetwork::idle() const noexcept {
    return std::all_of(endpoints_.begin(), endpoints_.end(),
                       [](const auto& endpoint) { return endpoint->inbox_.empty(); });
}

std::uint64_t InProcessNetwork::delay() { return random_() % (weather_.delay_max + 1); }

InProcessNetwork::Round& InProcessNetwork::round(std::uint64_t number) {
    if (number >= rounds_.size()) rounds_.resize(number + 1);
    return rounds_[number];
}

}  // namespace nw
