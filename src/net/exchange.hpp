// Batches of wire events between this rank and the others, as its workers see them: any worker hands batches
// over, and whoever holds the rank's net role brings them out and takes in what has come.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "net/transport.hpp"

namespace nw {

class Exchange {
  public:
    explicit Exchange(Transport& transport) : transport_(transport) {}

    RankId rank() const noexcept { return transport_.rank(); }
    std::uint32_t ranks() const noexcept { return transport_.ranks(); }
    // Thread: any.
    std::size_t batch_bytes() const noexcept { return transport_.batch_bytes(); }

    // Thread: any. The bytes are copied.
    void post(RankId destination, std::span<const std::byte> batch) {
        OutgoingBatch own{destination, {batch.begin(), batch.end()}};
        const std::lock_guard lock(mutex_);
        outgoing_.push_back(std::move(own));
        has_outgoing_.store(true, std::memory_order_release);  // pairs with the acquire in send()
    }

    // --- Thread: the holder of the net role ---

    // Hands what was posted to the transport. Returns how many batches.
    std::uint64_t send() {
        if (!has_outgoing_.load(std::memory_order_acquire)) return 0;
        std::vector<OutgoingBatch> batches;
        {
            const std::lock_guard lock(mutex_);
            batches.swap(outgoing_);
            has_outgoing_.store(false, std::memory_order_release);
        }
        for (const OutgoingBatch& batch : batches) transport_.send(batch.destination, batch.bytes);
        return batches.size();
    }

    // Takes in some that have come before there is anywhere to deliver them, for the first receive().
    void receive_early() {
        if (ranks() == 1) return;
        transport_.receive(batches_received_per_step, [this](std::span<const std::byte> batch) {
            early_.emplace_back(batch.begin(), batch.end());
        });
    }

    // deliver(batch) for some that have come. Returns how many.
    template <class Deliver>
    std::uint64_t receive(Deliver&& deliver) {
        if (ranks() == 1) return 0;
        std::uint64_t received = early_.size();
        for (const std::vector<std::byte>& batch : early_)
            deliver(std::span<const std::byte>(batch));
        early_.clear();
        transport_.receive(batches_received_per_step, [&](std::span<const std::byte> batch) {
            deliver(batch);
            ++received;
        });
        return received;
    }

  private:
    static constexpr std::size_t batches_received_per_step = 16;

    struct OutgoingBatch {
        RankId destination;
        std::vector<std::byte> bytes;
    };

    Transport& transport_;
    std::vector<std::vector<std::byte>> early_;  // the net role's
    std::mutex mutex_;
    std::vector<OutgoingBatch> outgoing_;
    std::atomic<bool> has_outgoing_{false};
};

}  // namespace nw
