// SPDX-License-Identifier: Apache-2.0
// A rank's part of repeated reductions over all workers of all ranks. Once per round, each worker
// writes its values into its slot and calls arrive(). When all workers of the rank have arrived,
// the holder of the net role reduces the slots over the workers and over the ranks
// (counted_reduction.hpp), and publishes the result. No worker waits here. If batches are counted,
// a rank publishes the result only when it has received all batches that were sent to it before
// their senders arrived.
//
// Rounds are counted modulo 2^32. A batch carries the number of the round in which it was sent.
//
//     done ≤ number of rounds of which a worker has read the result + 1
//     arrivals of a worker ∈ {done, done + 1}
//
// Thread: a worker calls slot() and arrive(); any thread calls done(), has_gathered() and result();
// the holder of the net role calls the rest.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "net/counted_reduction.hpp"
#include "util/handoff.hpp"

namespace nw {

// Result: the values that are published, made from the reduced Sums.
template <class Sums, class Result = Sums>
class ReductionRounds {
  public:
    using Part = typename CountedReduction<Sums>::Part;

    // `first`: the number of the first round. `counts`: whether batches are counted, so that a
    // result waits for them.
    ReductionRounds(Transport& transport, std::uint32_t workers, std::uint32_t first, bool counts,
                    const Result& first_result = {})
        : transport_(transport),
          reduction_(transport, counts),
          slots_(workers),
          done_(first),
          result_(first_result) {
        for (Slot& slot : slots_) {
            static_cast<Part&>(slot) = reduction_.new_part();
            slot.arrivals.store(first, std::memory_order_relaxed);
        }
    }

    // Requires: the worker has read the results of all rounds at which it has arrived.
    Part& slot(std::uint32_t worker) noexcept { return slots_[worker]; }
    // Declares that the content of the worker's slot is final. Returns whether all workers have
    // arrived. If so, the next step() starts the reduction.
    bool arrive(std::uint32_t worker) noexcept {
        std::atomic<std::uint32_t>& arrivals = slots_[worker].arrivals;
        arrivals.store(arrivals.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return arrived_.fetch_add(1) + 1 == workers();
    }

    // The number of the first round whose result is not published yet. result() belongs to the
    // previous round, and does not change until all workers have arrived again.
    std::uint32_t done() const noexcept {
        return done_.load();  // pairs with the store in step(), also before a sleep (WakeSignal)
    }
    const Result& result() const noexcept { return result_; }

    // Whether all workers have arrived, so that the next step() starts the reduction. No worker can
    // read the result of the round before this step.
    bool has_gathered() const noexcept {
        return arrived_.load() == workers();  // pairs with the fetch_add in arrive()
    }
    // Whether this rank has contributed to a round whose result it does not have yet.
    bool is_under_way() const noexcept { return reduction_.is_under_way(); }
    // Whether all ranks have contributed, but batches for this rank are still under way.
    bool is_receiving() const noexcept { return reduction_.is_receiving(); }

    // Called when a batch that was sent in this round has arrived.
    void receive(std::uint32_t round) noexcept { reduction_.receive(round); }

    // Advances the round as far as possible without waiting. If the reduction has ended, calls
    // publish(sums, result), which updates the result, and returns true.
    template <class Publish>
    bool step(Publish&& publish) {
        if (!reduction_.is_under_way()) {
            if (!has_gathered()) return false;
            arrived_.store(0, std::memory_order_relaxed);
            reduction_.begin(slots_);
        }
        const std::uint32_t round = done_.load(std::memory_order_relaxed);
        if (!reduction_.poll(round)) return false;
        publish(reduction_.result(), result_);
        note_handoff(Handoff::result_made);
        done_.store(round + 1);  // pairs with the load in done()
        return true;
    }

    // Describes what the present round is waiting for. `missing`: the text before the numbers of
    // the workers that have not arrived.
    std::string waiting_for(std::string_view missing) const {
        const std::uint32_t round = done_.load(std::memory_order_relaxed);
        if (reduction_.is_receiving())
            return fmt::format("{} of {} batches from other ranks have arrived",
                               reduction_.received(round), reduction_.expected());
        if (reduction_.is_under_way())
            return fmt::format(
                "other ranks have not contributed; {} batches of this rank have not been received",
                transport_.sends_under_way());
        std::string text(missing);
        const char* separator = " ";
        for (std::uint32_t w = 0; w < workers(); ++w) {
            if (slots_[w].arrivals.load(std::memory_order_relaxed) != round) continue;
            text += fmt::format("{}{}", separator, w);
            separator = ", ";
        }
        return text;
    }

  private:
    struct alignas(64) Slot : Part {
        std::atomic<std::uint32_t> arrivals;  // the worker's next round; only the worker writes it
    };

    std::uint32_t workers() const noexcept { return static_cast<std::uint32_t>(slots_.size()); }

    Transport& transport_;
    CountedReduction<Sums> reduction_;  // used by the holder of the net role
    std::vector<Slot> slots_;
    alignas(64) std::atomic<std::uint32_t> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> done_;
    Result result_;
};

}  // namespace nw
