// SPDX-License-Identifier: Apache-2.0
// A worker's pending events, smallest key first: a two-level ladder.
//
//   late      a heap of entries that were pushed late              x <  next
//   run       one bucket, sorted, from which entries are popped    x <  next
//   ring      B buckets of equal width, append-only, unsorted      next ≤ x < next + B
//   far       bins by the highest bit in which x and `far_base` differ, unsorted
//
// where x = (time - origin) * scale is the time in bucket widths. An entry is written once to its
// bucket, and once more when the bucket is sorted into the run (counting sort). The run is then
// read in sequence. So memory is accessed in two sequential streams; a heap would have a cache miss
// at each of its levels. A bucket holds tens to about a thousand entries, so that the tails of all
// buckets stay in the cache for any number of entries. A calendar queue has few entries per bucket,
// and therefore a cache miss at every insertion. To sort a bucket only when it is needed is the
// idea of the ladder queue (Tang, Goh, Thng, 2005). The far bins are a radix heap (Ahuja, Mehlhorn,
// Orlin, Tarjan, 1990), in which entries move only to lower bins.
//
// An entry that is pushed below `next`, for example after a rollback, goes into the heap at
// logarithmic cost. The ladder is rebuilt if the heap has received too many entries, or if the
// buckets have become too full or too empty. The cost of a rebuild is at most proportional to the
// number of operations since the last rebuild. So any mix of operations costs amortized O(log n)
// per operation, times a factor that depends on the range of times (an entry moves through at most
// 52 far bins).
//
// Thread: the worker that owns the set. The set cannot delete an entry in the middle: the caller
// marks the event, and checks the mark when it pops the entry.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <numawarp/time.hpp>

#include "event/entry_pool.hpp"
#include "event/pending_entry.hpp"

namespace nw {

class PendingSet {
  public:
    PendingSet();
    PendingSet(const PendingSet&) = delete;
    PendingSet& operator=(const PendingSet&) = delete;

    // Requires: the time is finite. It may be smaller than the times of entries that were popped.
    void push(const PendingEntry& entry) { push(entry.time, entry); }
    // `Words`: a PendingEntry, or the same content in words of eight bytes. The content is copied
    // once, directly into the bucket.
    template <class Words>
    void push(VirtualTime time, const Words& words) {
        ++size_;
        const double x = (time - origin_) * scale_;
        if (x >= late_below_ && x < ring_end_) [[likely]]
            push_near(static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) & ring_mask_, words);
        else
            push_aside(std::bit_cast<PendingEntry>(words), x);
    }

    // Returns the smallest entry, or null if the set is empty. The pointer is valid until the next
    // push or pop.
    const PendingEntry* top() {
        if (run_is_first()) [[likely]]
            return run_next_;
        return top_slow();
    }

    // Removes the smallest entry. Requires: `top` is the result of top(), and not null.
    void pop(const PendingEntry* top) {
        // The entry is in the run if, and only if, the two addresses are equal. The address of the
        // heap is never equal to the end of the run, because the buffer of the run is larger than
        // the run.
        if (top == run_next_) [[likely]]
            ++run_next_;
        else
            pop_slow();
        --size_;
    }
    void pop() { pop(top()); }

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }

    // Returns infinity if the set is empty.
    VirtualTime min_time() {
        const PendingEntry* entry = top();
        return entry != nullptr ? entry->time : time_infinity;
    }

    // Removes the entries for which wanted(entry) is true and appends them to `taken`, in no
    // particular order. Cost: O(size). Memory: one chunk of the pool, because the other entries
    // stay in their buckets.
    template <class Wanted>
    void take_if(Wanted&& wanted, std::vector<PendingEntry>& taken) {
        const std::size_t taken_before = taken.size();
        const auto takes = [&](const PendingEntry& entry) {
            if (!wanted(entry)) return false;
            taken.push_back(entry);
            return true;
        };
        std::erase_if(late_, takes);
        restore_heap();
        run_end_ = std::remove_if(run_next_, run_end_, takes);
        ++run_number_;
        for (std::size_t slot = 0; slot < tails_storage_.size(); ++slot)
            pool_.consume(empty_slot(slot), [&](const PendingEntry& entry) {
                if (!takes(entry)) push_to_slot(slot, entry);
            });
        size_ -= taken.size() - taken_before;
    }

    // Returns the entry k places after the front of the sorted run, or null. The entries of the run
    // are contiguous. A hint for prefetching: late entries may come first.
    const PendingEntry* upcoming(std::size_t k) const noexcept {
        return k < static_cast<std::size_t>(run_end_ - run_next_) ? run_next_ + k : nullptr;
    }

    // Changes when a new run begins, or when entries of the run move.
    std::uint64_t run_number() const noexcept { return run_number_; }

    // Number of entries from upcoming(0) on.
    std::size_t left_in_run() const noexcept {
        return static_cast<std::size_t>(run_end_ - run_next_);
    }

    // Memory in bytes, whether used or not.
    std::size_t bytes() const noexcept;

    // Visits all entries, in no particular order.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const PendingEntry& entry : late_) visit(entry);
        for (const PendingEntry* entry = run_next_; entry != run_end_; ++entry) visit(*entry);
        for (PendingEntry* tail : tails_storage_)
            EntryPool::for_each(tail, [&](const PendingEntry& entry) { visit(entry); });
    }

    // Replaces each entry by replacement(entry), which must have the same key. Allocates no memory.
    template <class Replacement>
    void replace_each(Replacement replacement) {
        const auto replace = [&](PendingEntry& entry) { entry = replacement(entry); };
        std::ranges::for_each(late_, replace);
        std::for_each(run_next_, run_end_, replace);
        for (PendingEntry* tail : tails_storage_) EntryPool::for_each(tail, replace);
    }

    // Checks all entries. Returns false if an entry is in the wrong place.
    bool validate() const;

  private:
    static constexpr std::size_t far_bins = 52;

    bool run_is_first() const noexcept {
        return run_next_ != run_end_ && (late_.empty() || !before(late_.front(), *run_next_));
    }
    template <class Words>
    void push_near(std::size_t bucket, const Words& words) {
        PendingEntry*& tail = tails_[bucket];
        if (tail == nullptr) [[unlikely]]
            ring_used_[bucket / 64] |= std::uint64_t{1} << bucket % 64;
        pool_.push(tail, words);
    }
    void push_aside(PendingEntry entry, double x);
    void push_late(const PendingEntry& entry);
    void push_far(const PendingEntry& entry, std::uint64_t x);
    const PendingEntry* top_slow();
    void pop_slow();

    void advance();
    void move_window(std::uint64_t next) noexcept;
    std::uint64_t next_in_ring() const noexcept;
    void lower_far_bin(std::size_t bin);
    void sort_into_run(std::size_t slot);
    bool sort_by_insertion(std::size_t count);
    void sort_by_cell();

    bool out_of_shape() noexcept;
    void restore_heap();
    PendingEntry* empty_slot(std::size_t slot) noexcept;
    void push_to_slot(std::size_t slot, const PendingEntry& entry);
    void rebuild();
    void begin_period() noexcept;
    void set_shape(VirtualTime first, const std::vector<double>& sample);
    double choose_width(const std::vector<double>& sample) const;

    // Used by push(), top() and pop().
    double origin_ = 0;
    double scale_ = 1;   // buckets per unit of time
    double late_below_;  // `next`, the first bucket of the ring; NaN: all entries go to the heap
    double ring_end_;    // next + B, or less near the largest bucket number
    std::uint64_t ring_mask_ = 0;     // B - 1
    PendingEntry** tails_ = nullptr;  // B buckets, then far_bins bins
    PendingEntry* run_next_ = nullptr;
    PendingEntry* run_end_ = nullptr;
    std::uint64_t run_number_ = 0;
    std::size_t size_ = 0;
    EntryPool pool_;
    std::vector<PendingEntry> late_;  // a heap of std::push_heap

    // Used to advance to the next bucket.
    std::uint64_t next_ = 0;
    std::uint64_t far_base_ = 0;                     // ≤ next, and less than x of all far entries
    std::uint64_t far_used_ = 0;                     // bit i: far bin i is not empty
    std::array<std::uint64_t, far_bins> far_min_{};  // smallest x in each bin in use
    std::vector<std::uint64_t> ring_used_;           // bit i: bucket i is not empty
    std::vector<PendingEntry*> tails_storage_;
    std::unique_ptr<PendingEntry[]> run_;
    std::size_t run_capacity_ = 0;
    std::vector<std::uint32_t> cell_of_;  // of each entry of the bucket that is sorted
    std::vector<std::uint32_t> cell_end_;

    // Used to decide when to rebuild. Counts refer to the current period, which began when `next`
    // was period_start_.
    std::size_t built_for_ = 0;  // entries at the last rebuild
    std::size_t late_count_ = 0;
    std::size_t late_limit_;
    std::size_t sorted_count_ = 0;
    std::size_t sorted_limit_ = 0;
    std::uint64_t period_start_ = 0;
    std::size_t patience_ = 1;  // doubled whenever a rebuild has changed nothing
};

}  // namespace nw
