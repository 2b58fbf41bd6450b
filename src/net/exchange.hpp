// SPDX-License-Identifier: Apache-2.0
// Exchanges batches of wire events between this rank and the other ranks. Any worker may post
// batches. The holder of the rank's net role sends the posted batches, and receives batches from
// other ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "net/transport.hpp"
#include "util/locks.hpp"

namespace nw {

class Exchange {
  public:
    explicit Exchange(Transport& transport) : transport_(transport) {}

    RankId rank() const noexcept { return transport_.rank(); }
    std::uint32_t ranks() const noexcept { return transport_.ranks(); }
    // Thread: any.
    std::size_t batch_bytes() const noexcept { return transport_.batch_bytes(); }

    // Thread: any. Copies the bytes.
    void post(RankId destination, std::span<const std::byte> batch) {
        OutgoingBatch own{destination, {batch.begin(), batch.end()}};
        const LockGuard lock(mutex_);
        outgoing_.push_back(std::move(own));
        unsent_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in send()
    }
    // Thread: any. The number of batches that were posted and not yet passed to the transport.
    std::size_t unsent() const noexcept { return unsent_.load(std::memory_order_relaxed); }

    // --- Thread: the holder of the net role ---

    // Passes posted batches to the transport, at most batches_sent_per_step, and returns their
    // number. The holder of the net role must receive batches after each call: if two ranks only
    // sent, each would wait for the other, and the number of unsent batches would grow.
    std::uint64_t send() {
        if (unsent_.load(std::memory_order_acquire) == 0) return 0;
        if (next_ == sending_.size()) {
            sending_.clear();
            next_ = 0;
            const LockGuard lock(mutex_);
            sending_.swap(outgoing_);
        }
        std::uint64_t sent = 0;
        for (; next_ < sending_.size() && sent < batches_sent_per_step &&
               transport_.sends_under_way() < sends_under_way_max;
             ++next_, ++sent) {
            transport_.send(sending_[next_].destination, sending_[next_].bytes);
            sending_[next_].bytes = {};
        }
        unsent_.fetch_sub(sent, std::memory_order_relaxed);
        return sent;
    }

    // Receives some batches that cannot be delivered yet, and keeps them for the next receive().
    void receive_early() {
        if (ranks() == 1) return;
        transport_.receive(batches_received_per_step, [this](std::span<const std::byte> batch) {
            early_.emplace_back(batch.begin(), batch.end());
        });
    }

    // Calls deliver(batch) for some batches that have arrived. Returns their number.
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

    // About 240 KB. With a limit of 16, mail would accumulate in the rank while its LPs start
    // (tests/engine/test_start_mail.cpp).
    static constexpr std::size_t batches_sent_per_step = 64;
    // The batches of four steps, which take 1 MiB. Each batch under way has a buffer, and each step
    // tests the requests of all batches under way.
    static constexpr std::size_t sends_under_way_max = 256;

  private:
    static constexpr std::size_t batches_received_per_step = 16;

    struct OutgoingBatch {
        RankId destination;
        std::vector<std::byte> bytes;
    };

    Transport& transport_;
    std::vector<std::vector<std::byte>> early_;  // belongs to the holder of the net role
    Mutex mutex_;
    std::vector<OutgoingBatch> outgoing_ NW_GUARDED_BY(mutex_);
    std::atomic<std::size_t> unsent_{0};
    // Only the holder of the net role uses the following members. The batches from sending_[next_]
    // on have not been sent yet.
    std::vector<OutgoingBatch> sending_;
    std::size_t next_ = 0;
};

}  // namespace nw
