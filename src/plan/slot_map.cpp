// SPDX-License-Identifier: Apache-2.0
#include "plan/slot_map.hpp"

#include <bit>
#include <numeric>

namespace nw {

// Makes about as many blocks as runs, so that the run of an LP is the first run of the LP's block,
// or one of the next few runs.
void SlotMap::index_runs() {
    const std::size_t runs = runs_.size() - 1;
    block_shift_ = static_cast<unsigned>(std::bit_width(lps_ / runs)) - 1;
    std::uint32_t run = 0;
    for (std::uint64_t lp = 0; lp < lps_; lp += std::uint64_t{1} << block_shift_) {
        while (runs_[run + 1].lp <= lp) ++run;
        run_at_.push_back(run);
    }
    run_at_.push_back(static_cast<std::uint32_t>(runs - 1));
    by_slot_.resize(runs);
    std::iota(by_slot_.begin(), by_slot_.end(), 0);
    std::sort(by_slot_.begin(), by_slot_.end(),
              [this](std::uint32_t a, std::uint32_t b) { return runs_[a].slot < runs_[b].slot; });
}

std::uint32_t SlotMap::lp_of(std::uint32_t slot) const noexcept {
    if (is_in_order_) return slot < lps_ ? slot : no_lp;
    if (!lp_of_slot_.empty()) return lp_of_slot_[slot];
    const auto after = std::upper_bound(
        by_slot_.begin(), by_slot_.end(), slot,
        [this](std::uint32_t s, std::uint32_t run) { return s < runs_[run].slot; });
    if (after == by_slot_.begin()) return no_lp;
    const Run* const run = &runs_[*(after - 1)];
    const std::uint32_t lp = run->lp + (slot - run->slot);
    return lp < run[1].lp ? lp : no_lp;
}

std::size_t SlotMap::bytes() const noexcept {
    return (slot_of_lp_.capacity() + lp_of_slot_.capacity() + run_at_.capacity() +
            by_slot_.capacity()) *
               sizeof(std::uint32_t) +
           runs_.capacity() * sizeof(Run);
}

}  // namespace nw
