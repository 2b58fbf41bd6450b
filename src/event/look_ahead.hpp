// Prepares the next eight events of the sorted run together: the places of their LPs, and the next
// block of random numbers of each LP. For the sixteen events after these it prefetches LPs, records
// and objects.
//
// Each result is a guess: a late event may come first, and an LP may draw numbers before the event
// is executed. give_block() compares the LP's number and its count of blocks before it uses a
// block.
//
// Thread: the worker's. Requires: LPs do not move in memory, or forget() is called.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <numawarp/random.hpp>

#include "event/pending_set.hpp"
#include "math/philox_blocks.hpp"

namespace nw {

struct Group;
struct LpRecord;

class LookAhead {
  public:
    explicit LookAhead(std::uint64_t seed) : make_blocks_(philox_maker()), seed_(seed) { forget(); }

    struct Place {
        Group* group = nullptr;
        LpRecord* lp = nullptr;
    };
    using Guess = std::size_t;
    static constexpr Guess none = PhiloxBlocks::width;

    // Returns the guess for the event at the front of `pending`, or none. `lps` has three
    // functions: place_of(number of an LP); counter_of(place), the LP's count of random blocks; and
    // prefetch_far(place, entry), which prefetches the data that prefetch_near(place, entry) reads.
    template <class Lps>
    Guess find(const PendingSet& pending, const PendingEntry* front, const Lps& lps) {
        if (next_ < known_ && blocks_.stream[next_] == front->target) [[likely]]
            return next_++;
        if (front != pending.upcoming(0)) return none;
        look(pending, lps);
        return next_++;
    }

    // Requires: `guess` is not none.
    const Place& place(Guess guess) const noexcept { return now_->place[guess]; }
    // Gives `random` the LP's next block, if the guess is for this LP and this count of blocks.
    void give_block(Guess guess, std::uint32_t lp, std::uint64_t counter,
                    Random& random) const noexcept {
        if (guess != none && blocks_.counter[guess] == counter && blocks_.stream[guess] == lp)
            [[likely]]
            random.give_block(blocks_.first[guess], blocks_.second[guess]);
    }

    void forget() noexcept {
        known_ = 0;
        for (Eight& eight : eights_) eight.target.fill(nobody);
    }

  private:
    static constexpr std::size_t width = PhiloxBlocks::width;
    static constexpr std::uint32_t nobody = UINT32_MAX;  // no LP has this number

    // Eight consecutive entries of the run.
    struct Eight {
        std::array<std::uint32_t, width> target;
        std::array<Place, width> place;
    };

    // A place is determined when its entry is far from the front, and reused when the entry is
    // near.
    template <class Lps>
    static const Place& place_in(Eight& eight, std::size_t i, std::uint32_t target,
                                 const Lps& lps) {
        if (eight.target[i] != target) [[unlikely]] {
            eight.target[i] = target;
            eight.place[i] = lps.place_of(target);
        }
        return eight.place[i];
    }

    template <class Lps>
    [[gnu::noinline]] void look(const PendingSet& pending, const Lps& lps) {
        const PendingEntry* const run = pending.upcoming(0);
        const std::size_t left = pending.left_in_run();
        known_ = std::min(left, width);
        next_ = 0;
        first_ = (first_ + 1) % eights_.size();
        Eight& now = eights_[first_];
        now_ = &now;
        Eight& near = eights_[(first_ + 1) % eights_.size()];
        Eight& far = eights_[(first_ + 2) % eights_.size()];
        for (std::size_t i = 0; i < known_; ++i) {
            blocks_.stream[i] = run[i].target;
            blocks_.counter[i] = lps.counter_of(place_in(now, i, run[i].target, lps));
        }
        for (std::size_t i = 0; width + i < std::min(left, 2 * width); ++i) {
            const PendingEntry& entry = run[width + i];
            lps.prefetch_near(place_in(near, i, entry.target, lps), entry);
        }
        for (std::size_t i = 0; 2 * width + i < std::min(left, 3 * width); ++i) {
            const PendingEntry& entry = run[2 * width + i];
            lps.prefetch_far(place_in(far, i, entry.target, lps), entry);
        }
        make_blocks_(blocks_, seed_);
    }

    PhiloxBlocks blocks_{};
    std::array<Eight, 3> eights_{};
    std::size_t first_ = 0;              // index in eights_ of the entries that are executed now
    const Eight* now_ = eights_.data();  // &eights_[first_]
    std::size_t next_ = 0;
    std::size_t known_ = 0;
    const MakePhiloxBlocks make_blocks_;
    const std::uint64_t seed_;
};

}  // namespace nw
