// The row in which LPs stand, before it is cut into groups: which slot an LP has, and which LP a slot. Slots
// may be empty, where a worker's last group has room left.
//
// Three forms. In order: slot i holds LP i, and nothing is kept. Runs: where neighbouring LPs have
// neighbouring slots, as when a model or METIS deals regions, one entry for each stretch; a table by LP would
// grow with all LPs on every rank. A table: where LPs are few, since it is one load, or are dealt without
// any order. (The model's own map, Setup::parts, has as many entries then.)
//
// Never changes once it is made; any thread reads it.
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

    // In order.
    explicit SlotMap(std::uint32_t lps = 0) noexcept : lps_(lps) {}

    // deal() gives a function that is called for LP 0, LP 1, … and returns their slots, which are different and
    // below `slots`. Requires: it is the same each time. Cost: O(lps) steps, and 12 bytes a run or 8 an LP.
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
    // no_lp: it is empty. Requires: slot < slots.
    std::uint32_t lp_of(std::uint32_t slot) const noexcept;

    std::size_t bytes() const noexcept;

  private:
    // 512 KiB as a table, both ways: about what a core's cache holds.
    static constexpr std::uint32_t table_lps_max = 65'536;
    // Runs with their index take at most an eighth of a table then.
    static constexpr std::uint32_t lps_per_run_min = 16;

    struct Run {
        std::uint32_t lp;  // the first; the next run's is one past the last
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
    std::vector<std::uint32_t> lp_of_slot_;  // with it
    std::vector<Run> runs_;                  // by LP, and one more behind them
    std::vector<std::uint32_t> run_at_;      // by block of LPs: the run that its first LP is in
    unsigned block_shift_ = 0;
    std::vector<std::uint32_t> by_slot_;  // the runs by their slots
};

}  // namespace nw
