// SPDX-License-Identifier: Apache-2.0
#include "event/pending_set.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "util/check.hpp"
#include "util/meter_marks.hpp"

namespace nw {
namespace {

// Minimum number of entries for a ladder. With fewer entries the heap alone is as fast, and the
// times are too few for an estimate.
constexpr std::size_t ladder_min = 8;

// Number of times that are sampled when the ladder is built.
constexpr std::size_t sample_size = 1024;

// The largest bucket number. Up to here, bucket numbers are exact in a double. All later times
// share the last bucket.
constexpr std::uint64_t x_max = std::uint64_t{1} << 51;

constexpr double ring_min = 64;
constexpr double ring_max = 8192;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();  // no x is at or above it

constexpr auto after = [](const PendingEntry& a, const PendingEntry& b) { return before(b, a); };

// Returns the number of entries that a bucket should hold when it is sorted. The tails of all
// buckets and the run should both fit into the inner caches; the square root balances the two
// sizes.
double bucket_target(std::size_t entries) {
    return std::clamp(2 * std::sqrt(static_cast<double>(entries)), 8.0, 2048.0);
}

std::uint64_t clamped(double x) {
    return x < static_cast<double>(x_max) ? static_cast<std::uint64_t>(x) : x_max;
}

}  // namespace

PendingSet::PendingSet() : late_below_(nothing), ring_end_(nothing), late_limit_(ladder_min) {}

// ---- push outside of the ring ----

// The entry is passed by value. With a reference, the compiler would keep the entry in memory on
// the fast path, too. The narrow stores of the entry would then delay the wide loads that copy the
// entry.
void PendingSet::push_aside(PendingEntry entry, double x) {
    if (x >= late_below_)
        push_far(entry, clamped(x));
    else
        push_late(entry);
}

void PendingSet::push_late(const PendingEntry& entry) {
    NW_PARANOID(std::isfinite(entry.time));
    late_.push_back(entry);
    std::push_heap(late_.begin(), late_.end(), after);
    if (++late_count_ >= late_limit_) rebuild();
}

// Requires: x ≥ next + B. In a call from lower_far_bin(), x > far_base is sufficient.
void PendingSet::push_far(const PendingEntry& entry, std::uint64_t x) {
    const auto bin = static_cast<std::size_t>(std::bit_width(x ^ far_base_) - 1);
    const std::uint64_t bit = std::uint64_t{1} << bin;
    far_min_[bin] = (far_used_ & bit) != 0 ? std::min(far_min_[bin], x) : x;
    far_used_ |= bit;
    pool_.push(tails_[ring_mask_ + 1 + bin], entry);
}

// ---- the front ----

// Requires: the run is empty, or its first entry is not the smallest entry of the set.
const PendingEntry* PendingSet::top_slow() {
    if (late_.empty()) {
        if (size_ == 0) return nullptr;
        if (out_of_shape()) rebuild();
    }
    // If there are few entries, rebuild() has put them into the heap.
    if (!late_.empty()) return late_.data();
    advance();
    return run_next_;
}

void PendingSet::pop_slow() {
    const PendingEntry* front = top_slow();
    NW_CHECK(front != nullptr);
    if (late_.empty()) {
        ++run_next_;
        return;
    }
    std::pop_heap(late_.begin(), late_.end(), after);
    late_.pop_back();
}

// Advances to the next bucket that is not empty, and sorts it into the run. Requires: the run and
// `late_` are empty, and the set is not empty.
void PendingSet::advance() {
    for (;;) {
        const std::uint64_t near = next_in_ring();
        if (far_used_ != 0) {
            const auto bin = static_cast<std::size_t>(std::countr_zero(far_used_));
            if (far_min_[bin] <= near) {
                lower_far_bin(bin);
                continue;
            }
        }
        move_window(near + 1);
        sort_into_run(near & ring_mask_);
        return;
    }
}

void PendingSet::move_window(std::uint64_t next) noexcept {
    next_ = next;
    late_below_ = next <= x_max ? static_cast<double>(next) : nothing;
    ring_end_ = static_cast<double>(std::min(next + ring_mask_ + 1, x_max));
}

// Returns the number of the first non-empty bucket of the ring, or x_max + 1 if all are empty.
std::uint64_t PendingSet::next_in_ring() const noexcept {
    const std::size_t words = ring_used_.size();
    const std::size_t start = next_ & ring_mask_;
    std::size_t word = start / 64;
    std::uint64_t bits = ring_used_[word] & (~std::uint64_t{0} << start % 64);
    // The first word is read twice, because its low bits are the last buckets of the ring.
    for (std::size_t i = 0; i <= words; ++i) {
        if (bits != 0) {
            const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            return next_ + ((slot - start) & ring_mask_);
        }
        word = word + 1 == words ? 0 : word + 1;
        bits = ring_used_[word];
    }
    return x_max + 1;
}

// Moves the window to the earliest far entry. Moves the entries of this bin into the ring or into
// lower bins. Requires: this bin is the lowest bin in use, and no entry of the ring is earlier than
// the bin's entries.
void PendingSet::lower_far_bin(std::size_t bin) {
    const std::size_t slot = ring_mask_ + 1 + bin;
    PendingEntry* tail = tails_[slot];
    tails_[slot] = nullptr;
    far_used_ &= far_used_ - 1;
    far_base_ = far_min_[bin];
    move_window(far_base_);
    pool_.consume(tail, [this](const PendingEntry& entry) {
        const std::uint64_t x = clamped((entry.time - origin_) * scale_);
        if (x - next_ <= ring_mask_)
            push_near(x & ring_mask_, entry);
        else
            push_far(entry, x);
    });
}

// Sorts a bucket into the run: first a counting sort with two to four times as many cells as
// entries, then an insertion sort.
void PendingSet::sort_into_run(std::size_t slot) {
    PendingEntry* tail = tails_[slot];
    tails_[slot] = nullptr;
    ring_used_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);

    const double bucket = static_cast<double>(next_ - 1);
    const std::size_t count = EntryPool::count(tail);
    if (count > run_capacity_) {
        run_capacity_ = std::bit_ceil(count);
        // One entry more than needed, so that the end of the run is never the address of another
        // entry. pop() relies on this.
        run_ = std::make_unique_for_overwrite<PendingEntry[]>(run_capacity_ + 1);
        cell_of_.resize(run_capacity_);
        meter_memory<MeterKind::pending>(run_.get(), run_capacity_ * sizeof(PendingEntry));
        meter_memory<MeterKind::pending>(cell_of_.data(), run_capacity_ * sizeof cell_of_[0]);
    }
    const std::size_t cells = std::clamp<std::size_t>(std::bit_ceil(2 * count), 16, 1 << 16);
    const double cell_scale = static_cast<double>(cells);
    cell_end_.assign(cells, 0);
    meter_memory<MeterKind::pending>(cell_end_.data(), cells * sizeof cell_end_[0]);

    std::uint32_t* cell = cell_of_.data();
    EntryPool::for_each(tail, [&](const PendingEntry& entry) {
        const double within = ((entry.time - origin_) * scale_ - bucket) * cell_scale;
        const auto c = static_cast<std::uint32_t>(std::min(within, cell_scale - 1));
        *cell++ = c;
        ++cell_end_[c];
    });
    std::uint32_t start = 0;
    for (std::uint32_t& end : cell_end_) start += std::exchange(end, start);
    cell = cell_of_.data();
    pool_.consume(tail, [&](const PendingEntry& entry) { run_[cell_end_[*cell++]++] = entry; });

    run_next_ = run_.get();
    run_end_ = run_next_ + count;
    ++run_number_;
    sorted_count_ += count;
    if (!sort_by_insertion(count)) sort_by_cell();
}

// Sorts a run that is nearly sorted. Stops and returns false if the run is not nearly sorted,
// because the cost would be quadratic. Examples are many equal times, or a cluster of times in a
// wide bucket.
bool PendingSet::sort_by_insertion(std::size_t count) {
    PendingEntry* run = run_.get();
    std::size_t moves_left = 4 * count + 64;
    VirtualTime latest = -infinity;  // of the entries before entry i
    for (std::size_t i = 0; i < count; ++i) {
        if (latest < run[i].time) [[likely]] {
            latest = run[i].time;
            continue;
        }
        if (!before(run[i], run[i - 1])) continue;
        const PendingEntry moving = run[i];
        std::size_t hole = i;
        do {
            run[hole] = run[hole - 1];
            --hole;
        } while (hole != 0 && before(moving, run[hole - 1]));
        run[hole] = moving;
        if (moves_left < i - hole) return false;
        moves_left -= i - hole;
    }
    return true;
}

// Requires: each entry is in its cell.
void PendingSet::sort_by_cell() {
    PendingEntry* start = run_.get();
    for (const std::uint32_t cell_end : cell_end_) {
        PendingEntry* end = run_.get() + cell_end;
        if (end - start > 1)
            std::sort(start, end,
                      [](const PendingEntry& a, const PendingEntry& b) { return before(a, b); });
        start = end;
    }
}

// ---- shape ----

// Returns whether the ladder should be rebuilt. Begins a new period if the period has ended and the
// buckets are filled as intended.
bool PendingSet::out_of_shape() noexcept {
    if (size_ > 4 * built_for_) return true;
    if (size_ < built_for_ / 4 && built_for_ > ladder_min) return true;
    if (sorted_count_ < sorted_limit_) return false;
    const double filled =
        static_cast<double>(sorted_count_) / static_cast<double>(next_ - period_start_);
    const double target = bucket_target(size_);
    if (filled > 3 * target || filled < target / 3) return true;
    begin_period();
    return false;
}

void PendingSet::begin_period() noexcept {
    late_count_ = 0;
    late_limit_ = built_for_ * patience_;
    sorted_count_ = 0;
    sorted_limit_ = 4 * built_for_ * patience_;
    period_start_ = next_;
}

void PendingSet::restore_heap() { std::make_heap(late_.begin(), late_.end(), after); }

// Empties the bucket or far bin, and returns its stack.
PendingEntry* PendingSet::empty_slot(std::size_t slot) noexcept {
    if (slot <= ring_mask_)
        ring_used_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
    else
        far_used_ &= ~(std::uint64_t{1} << (slot - ring_mask_ - 1));
    return std::exchange(tails_[slot], nullptr);
}

// Requires: the entry was in this slot, and the window has not moved since.
void PendingSet::push_to_slot(std::size_t slot, const PendingEntry& entry) {
    if (slot <= ring_mask_)
        push_near(slot, entry);
    else
        push_far(entry, clamped((entry.time - origin_) * scale_));
}

// Rearranges all entries: in buckets of a suitable width, or in the heap if there are few entries.
// Cost: O(size).
void PendingSet::rebuild() {
    std::vector<PendingEntry> loose(run_next_, run_end_);
    loose.insert(loose.end(), late_.begin(), late_.end());
    late_.clear();
    run_next_ = run_end_;
    std::vector<PendingEntry*> stacks;
    for (PendingEntry* tail : tails_storage_)
        if (tail != nullptr) stacks.push_back(tail);

    if (size_ < ladder_min) {
        for (PendingEntry* tail : stacks)
            pool_.consume(tail, [&loose](const PendingEntry& entry) { loose.push_back(entry); });
        std::fill(tails_storage_.begin(), tails_storage_.end(), nullptr);
        std::fill(ring_used_.begin(), ring_used_.end(), 0);
        far_used_ = 0;
        std::make_heap(loose.begin(), loose.end(), after);
        late_ = std::move(loose);
        late_below_ = nothing;
        built_for_ = ladder_min;
        begin_period();
        return;
    }

    VirtualTime first = infinity;
    std::vector<double> sample;
    const std::size_t stride = size_ / sample_size + 1;
    std::size_t until_sample = 1;
    const auto look = [&](const PendingEntry& entry) {
        first = std::min(first, entry.time);
        if (--until_sample == 0) {
            sample.push_back(entry.time);
            until_sample = stride;
        }
    };
    for (const PendingEntry& entry : loose) look(entry);
    for (PendingEntry* tail : stacks) EntryPool::for_each(tail, look);
    std::sort(sample.begin(), sample.end());
    set_shape(first, sample);

    const std::size_t size = size_;
    for (const PendingEntry& entry : loose) push(entry);
    for (PendingEntry* tail : stacks)
        pool_.consume(tail, [this](const PendingEntry& entry) { push(entry); });
    size_ = size;
}

// Makes an empty ladder that begins at `first`. The width and the number of its buckets are chosen
// for times as in the sample.
void PendingSet::set_shape(VirtualTime first, const std::vector<double>& sample) {
    const double width = choose_width(sample);
    const double scale = 1 / width;
    // The largest times may be outliers. They can wait in the far bins.
    const double span = sample[sample.size() - 1 - sample.size() / 64] - first;
    const auto buckets =
        std::bit_ceil(static_cast<std::size_t>(std::clamp(span * scale, ring_min, ring_max)));

    const double change = scale / scale_;
    const bool same = change > 0.7 && change < 1.4 && buckets == ring_mask_ + 1;
    patience_ = same ? std::min<std::size_t>(2 * patience_, 64) : 1;

    origin_ = first;
    scale_ = scale;
    ring_mask_ = buckets - 1;
    tails_storage_.assign(buckets + far_bins, nullptr);
    tails_ = tails_storage_.data();
    meter_memory<MeterKind::pending>(tails_, tails_storage_.size() * sizeof *tails_);
    ring_used_.assign(buckets / 64, 0);
    far_used_ = 0;
    far_base_ = 0;
    move_window(0);
    built_for_ = size_;
    begin_period();
}

// Returns the width with which the next buckets will hold about bucket_target() entries each.
double PendingSet::choose_width(const std::vector<double>& sample) const {
    const double target = bucket_target(size_);
    double width = infinity;
    // First estimate, from the pending entries: the density of the earliest quarter, or of more
    // quarters if all times of the earliest quarter are equal.
    for (std::size_t quarters = 1; quarters <= 4 && width == infinity; ++quarters) {
        const double span = sample[(sample.size() - 1) * quarters / 4] - sample.front();
        const double entries = static_cast<double>(size_) * static_cast<double>(quarters) / 4;
        if (span > 0) width = span / entries * target;
    }
    // Second estimate, from the entries that were popped: events that soon schedule other events
    // are more frequent at the front than among all pending entries.
    const std::uint64_t buckets = next_ - period_start_;
    const std::size_t popped = sorted_count_ + late_count_;
    if (popped >= built_for_ / 4 && buckets != 0)
        width = std::min(
            width, static_cast<double>(buckets) / scale_ / static_cast<double>(popped) * target);
    if (width == infinity) return 1 / scale_;
    return std::clamp(width, 1e-300, 1e300);
}

std::size_t PendingSet::bytes() const noexcept {
    return pool_.bytes() + (run_capacity_ + late_.capacity()) * sizeof(PendingEntry) +
           tails_storage_.capacity() * sizeof(PendingEntry*) +
           (cell_of_.capacity() + cell_end_.capacity()) * sizeof(std::uint32_t);
}

bool PendingSet::validate() const {
    bool good = true;
    std::size_t seen = late_.size() + static_cast<std::size_t>(run_end_ - run_next_);
    const auto x_of = [this](const PendingEntry& e) { return (e.time - origin_) * scale_; };

    good &= std::is_heap(late_.begin(), late_.end(), after);
    for (const PendingEntry& entry : late_) good &= !(x_of(entry) >= late_below_);
    for (const PendingEntry* entry = run_next_; entry != run_end_; ++entry) {
        good &= !(x_of(*entry) >= late_below_);
        good &= entry == run_next_ || !before(*entry, entry[-1]);
    }
    for (std::size_t slot = 0; slot < tails_storage_.size(); ++slot) {
        const bool far = slot > ring_mask_;
        const std::size_t bin = slot - ring_mask_ - 1;
        const bool used =
            far ? (far_used_ >> bin & 1) != 0 : (ring_used_[slot / 64] >> slot % 64 & 1) != 0;
        good &= used == (tails_storage_[slot] != nullptr);
        const std::size_t seen_before = seen;
        EntryPool::for_each(tails_storage_[slot], [&](const PendingEntry& entry) {
            ++seen;
            const std::uint64_t x = clamped(x_of(entry));
            good &= x >= next_;
            if (far)
                good &= x >= far_min_[bin] &&
                        static_cast<std::size_t>(std::bit_width(x ^ far_base_)) == bin + 1;
            else
                good &= x - next_ <= ring_mask_ && (x & ring_mask_) == slot;
        });
        good &= seen - seen_before == EntryPool::count(tails_storage_[slot]);
    }
    return good && seen == size_;
}

}  // namespace nw
