// SPDX-License-Identifier: Apache-2.0
// The row of LPs before it is cut into groups: the slot of each LP, and the LP of each slot. A slot
// may be empty, because a worker's last group may have room left.
//
// There are three forms. In order: slot i holds LP i, and nothing is stored. Runs: there is one
// entry for each stretch in which neighboring LPs have neighboring slots, for example if the model
// or METIS assigns regions. (A table would take memory for all LPs on every rank.) Table: there is
// one entry for each LP. This form is used for few LPs, because a lookup is one load, and for LPs
// that are assigned without any order. (In the second case the model's own map, Setup::parts, has
// as many entries as the table.)
//
// Immutable after construction. Thread: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nw {

class SlotMap {
  public:
    static constexpr std::uint32_t no_lp = std::numeric_limits<std::uint32_t>::max();

    // LPs in order: slot i holds LP i.
    explicit SlotMap(std::uint32_t lps = 0) noexcept : lps_(lps) {}

    // deal() returns a function. This function is called for LP 0, LP 1, …, and returns the slot of
    // the LP. The slots are different and below `slots`. Requires: every function that deal()
    // returns yields the same slots. Cost: O(lps) steps, and 16 to 20 bytes per run or 8 bytes per
    // LP.
    template <class Deal>
    SlotMap(std::uint32_t lps, std::uint32_t slots, Deal&& deal) : lps_(lps), is_in_order_(false) {
        const std::size_t runs = count_runs(lps, deal());
        if (lps > table_lps_max && runs <= lps / lps_per_run_min)
            make_runs(runs, deal());
        else
            make_table(slots, deal());
    }

    bool is_in_order() const noexcept { return is_in_order_; }

    // Requires: lp < lps.
    std::uint32_t slot_of(std::uint32_t lp) const noexcept {
        if (is_in_order_) return lp;
        if (!slot_of_lp_.empty()) return slot_of_lp_[lp];
        const Run& run = run_of(lp);
        return run.slot + (lp - run.lp);
    }
    // Returns no_lp for an empty slot. Requires: slot < slots.
    std::uint32_t lp_of(std::uint32_t slot) const noexcept;

    std::size_t bytes() const noexcept;

  private:
    // For this number of LPs, the tables of both directions take 512 KiB: about the size of a
    // core's cache.
    static constexpr std::uint32_t table_lps_max = 65'536;
    // If runs have at least this number of LPs on average, runs and their index take at most an
    // eighth of the memory of a table.
    static constexpr std::uint32_t lps_per_run_min = 16;

    struct Run {
        std::uint32_t lp;  // the first LP; the run ends before the next run's first LP
        std::uint32_t slot;
    };

    template <class SlotOf>
    static std::size_t count_runs(std::uint32_t lps, SlotOf&& slot_of) {
        std::size_t runs = 0;
        std::uint32_t next = 0;
        for (std::uint32_t lp = 0; lp < lps; ++lp) {
            const std::uint32_t slot = slot_of(lp);
            runs += lp == 0 || slot != next ? 1 : 0;
            next = slot + 1;
        }
        return runs;
    }

    template <class SlotOf>
    void make_runs(std::size_t runs, SlotOf&& slot_of) {
        runs_.reserve(runs + 1);
        for (std::uint32_t lp = 0; lp < lps_; ++lp) {
            const std::uint32_t slot = slot_of(lp);
            if (runs_.empty() || slot != runs_.back().slot + (lp - runs_.back().lp))
                runs_.push_back({lp, slot});
        }
        runs_.push_back({lps_, no_lp});
        index_runs();
    }

    template <class SlotOf>
    void make_table(std::uint32_t slots, SlotOf&& slot_of) {
        slot_of_lp_.resize(lps_);
        lp_of_slot_.resize(slots, no_lp);
        for (std::uint32_t lp = 0; lp < lps_; ++lp) {
            slot_of_lp_[lp] = slot_of(lp);
            lp_of_slot_[slot_of_lp_[lp]] = lp;
        }
    }

    const Run& run_of(std::uint32_t lp) const noexcept {
        const std::uint32_t block = lp >> block_shift_;
        const Run* const first = runs_.data() + run_at_[block];
        const Run* const last = runs_.data() + run_at_[block + 1] + 1;
        return *(std::upper_bound(first, last, lp,
                                  [](std::uint32_t a, const Run& run) { return a < run.lp; }) -
                 1);
    }
    void index_runs();

    std::uint32_t lps_;
    bool is_in_order_ = true;
    std::vector<std::uint32_t> slot_of_lp_;
    std::vector<std::uint32_t> lp_of_slot_;  // used together with slot_of_lp_
    std::vector<Run> runs_;                  // in the order of LPs; the last entry is a sentinel
    std::vector<std::uint32_t> run_at_;      // by block of LPs: the run of the block's first LP
    unsigned block_shift_ = 0;
    std::vector<std::uint32_t> by_slot_;  // indices of runs, in the order of their slots
};

}  // namespace nw
