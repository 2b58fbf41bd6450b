// SPDX-License-Identifier: Apache-2.0
// Prepares the next eight events of the sorted run together: finds their LPs, and computes the next
// block of random numbers of each LP. Prefetches the LPs, records and objects of the sixteen events
// after these eight.
//
// Each result is a guess: a late event may come first, and an LP may draw numbers before the event
// is executed. Therefore find() compares the LP's number, and give_block() compares the LP's count
// of blocks.
//
// Thread: the worker's. Requires: forget() is called if LPs have moved in memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <numawarp/random.hpp>

#include "api/math/philox_blocks.hpp"
#include "event/pending_set.hpp"

namespace nw {

struct Group;
struct LpRecord;

class EventPrefetcher {
  public:
    explicit EventPrefetcher(std::uint64_t seed) : make_blocks_(philox_maker()), seed_(seed) {
        // Every LP has used fewer blocks, so that give_block(none) gives no block.
        blocks_.counter[none] = std::numeric_limits<std::uint64_t>::max();
        forget();
    }

    struct Place {
        Group* group = nullptr;
        LpRecord* lp = nullptr;
    };
    using Guess = std::size_t;
    static constexpr Guess none = PhiloxBlocks::width;

    // Returns the guess for the event at the front of `pending`. If there is no guess, returns
    // `none`. For `none`, place() is correct, and give_block() gives no block.
    //
    // `lps` has these functions: place_of(number of an LP); counter_of(place), the LP's count of
    // random blocks; and prefetch_far(place, entry), which prefetches the data that
    // prefetch_near(place, entry) reads.
    template <class Lps>
    Guess find(const PendingSet& pending, const PendingEntry* front, const Lps& lps) {
        if (next_ < known_ && blocks_.stream[next_] == front->target) [[likely]]
            return next_++;
        if (front == pending.upcoming(0)) {
            prepare(pending, lps);
            return next_++;
        }
        (*now_)[none] = lps.place_of(front->target);
        return none;
    }

    // The place of the event's LP. Requires: `guess` is the result of the last call of find().
    const Place& place(Guess guess) const noexcept { return (*now_)[guess]; }
    // Returns whether the guess is for an event of this LP, or is `none`.
    bool is_for(Guess guess, std::uint32_t lp) const noexcept {
        return guess == none || blocks_.stream[guess] == lp;
    }
    // Gives `random` the LP's next block, if the guess is for this count of blocks. Requires:
    // is_for(guess, number of the LP).
    void give_block(Guess guess, std::uint64_t counter, Random& random) const noexcept {
        if (blocks_.counter[guess] == counter) [[likely]]
            random.give_block(blocks_.block[guess]);
    }

    void forget() noexcept {
        known_ = 0;
        continues_at_ = nullptr;
    }

  private:
    static constexpr std::size_t width = PhiloxBlocks::width;
    // The LPs of eight consecutive entries of the run. The last element of *now_ belongs to `none`.
    using Places = std::array<Place, width + 1>;

    template <class Lps>
    [[gnu::noinline]] void prepare(const PendingSet& pending, const Lps& lps) {
        const PendingEntry* const run = pending.upcoming(0);
        const std::size_t left = pending.left_in_run();
        // The ends of three ranges of entries: the entries that are executed now, the near entries,
        // and the far entries.
        const std::size_t now_end = std::min(left, width);
        const std::size_t near_end = std::min(left, 2 * width);
        const std::size_t far_end = std::min(left, 3 * width);
        if (run == continues_at_ && pending.run_number() == run_number_) [[likely]] {
            std::swap(now_, near_);
            std::swap(near_, far_);
        } else {
            for (std::size_t i = 0; i < now_end; ++i) (*now_)[i] = lps.place_of(run[i].target);
            for (std::size_t i = width; i < near_end; ++i)
                (*near_)[i - width] = lps.place_of(run[i].target);
        }
        run_number_ = pending.run_number();
        continues_at_ = run + width;
        next_ = 0;
        known_ = now_end;
        for (std::size_t i = 0; i < now_end; ++i) {
            blocks_.stream[i] = run[i].target;
            blocks_.counter[i] = lps.counter_of((*now_)[i]);
        }
        for (std::size_t i = width; i < near_end; ++i)
            lps.prefetch_near((*near_)[i - width], run[i]);
        for (std::size_t i = 2 * width; i < far_end; ++i) {
            const Place place = lps.place_of(run[i].target);
            (*far_)[i - 2 * width] = place;
            lps.prefetch_far(place, run[i]);
        }
        make_blocks_(blocks_, seed_);
    }

    PhiloxBlocks blocks_{};
    std::array<Places, 3> places_{};
    Places* now_ = &places_[0];                   // of the entries that are executed now
    Places* near_ = &places_[1];                  // of the entries whose objects are fetched
    Places* far_ = &places_[2];                   // of the entries whose LPs are fetched
    const PendingEntry* continues_at_ = nullptr;  // the first entry of near_
    std::uint64_t run_number_ = 0;                // of the run to which the entries belong
    std::size_t next_ = 0;
    std::size_t known_ = 0;
    const MakePhiloxBlocks make_blocks_;
    const std::uint64_t seed_;
};

}  // namespace nw
