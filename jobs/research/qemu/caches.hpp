// SPDX-License-Identifier: Apache-2.0
// The model of a machine's caches and TLBs: sets with least-recently-used replacement, which are
// filled on every miss, by loads and by stores. An access that misses in the last level is an
// access to memory.
//
// A store invalidates the copies in the caches of other cores. Each line of memory has a stamp: the
// CPU that wrote the line last, and the number of invalidations. A copy in a cache is valid if this
// number has not changed, or if a CPU of the same cache wrote the line last. So a store does not
// search the caches of other cores.
//
// Not modeled: prefetching, write-back traffic, instruction fetches, exclusive or inclusive levels
// (each level is filled independently).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace nw::qemu {

// The state of a line at an access: the number of invalidations before and after the access, and
// the CPU that wrote the line last before the access.
struct Stamp {
    static constexpr unsigned nobody = ~0u;

    std::uint32_t before;
    std::uint32_t changes;
    unsigned writer;
};

class Stamps {
  public:
    static constexpr unsigned line_shift = 6;

    explicit Stamps(std::uint64_t bytes) : words_(bytes >> line_shift) {}

    Stamp touch(std::uint64_t address, unsigned cpu, bool is_store) {
        std::atomic<std::uint32_t>& word = words_[address >> line_shift];
        std::uint32_t now = word.load(std::memory_order_relaxed);
        const std::uint32_t before = now >> count_shift;
        const std::uint32_t writer = now & cpu_mask;
        if (is_store && (now & (cpu_mask | read_bit)) != cpu + 1) {
            now = (before + 1) << count_shift | (cpu + 1);
            word.store(now, std::memory_order_relaxed);
        } else if (!is_store && writer != cpu + 1 && (now & read_bit) == 0) {
            word.fetch_or(read_bit, std::memory_order_relaxed);
        }
        return {before, now >> count_shift, writer == 0 ? Stamp::nobody : writer - 1};
    }

  private:
    // A word: the last writer's CPU + 1 (0: none), whether another CPU has read the line since, and
    // the number of invalidations.
    static constexpr std::uint32_t cpu_mask = 0x7f, read_bit = 0x80;
    static constexpr unsigned count_shift = 8;
    std::vector<std::atomic<std::uint32_t>> words_;
};

struct Shape {
    unsigned line_shift = 6;
    std::uint64_t sets = 0;  // 0: the machine has no such cache
    unsigned ways = 0;
};

// Keys with stamps. The entries of a set are in the order of their last use.
class Sets {
  public:
    explicit Sets(Shape shape) : shape_(shape), entries_(shape.sets * shape.ways) {}

    const Shape& shape() const { return shape_; }

    // Returns whether `key` was present with a stamp that is_good accepts. Stores `key` with the
    // new stamp.
    template <class IsGood>
    bool look_up(std::uint64_t index, std::uint64_t key, std::uint32_t stamp, IsGood&& is_good) {
        Entry* const set = entries_.data() + index % shape_.sets * shape_.ways;
        Entry* const end = set + shape_.ways;
        Entry* found = std::find_if(set, end, [&](const Entry& e) { return e.key == key + 1; });
        const bool hit = found != end && is_good(found->stamp);
        if (found == end) --found;
        std::move_backward(set, found, found + 1);
        *set = {key + 1, stamp};
        return hit;
    }

    bool holds(std::uint64_t index, std::uint64_t key) const {
        const Entry* const set = entries_.data() + index % shape_.sets * shape_.ways;
        return std::any_of(set, set + shape_.ways,
                           [&](const Entry& e) { return e.key == key + 1; });
    }

  private:
    struct Entry {
        std::uint64_t key = 0;  // the key + 1; 0: empty
        std::uint32_t stamp = 0;
    };
    Shape shape_;
    std::vector<Entry> entries_;
};

// One cache, of one core or of several cores.
class Cache {
  public:
    // is_asked: CPUs that do not use this cache also call holds(), so the cache needs a lock.
    Cache(Shape shape, std::vector<bool> cpus, bool is_asked)
        : sets_(shape),
          cpus_(std::move(cpus)),
          is_locked_(is_asked || std::count(cpus_.begin(), cpus_.end(), true) > 1) {}

    // Returns whether a valid copy was present; afterwards there is one. The copy is compared with
    // the number of invalidations before the access. The first store after a read raises this
    // number, but is still a hit if no other CPU has written the line since the read. A copy of the
    // last writer is valid: no other CPU can have written after it.
    bool look_up(std::uint64_t index_address, std::uint64_t address, Stamp stamp) {
        std::unique_lock lock(mutex_, std::defer_lock);
        if (is_locked_) lock.lock();
        const unsigned shift = sets_.shape().line_shift;
        return sets_.look_up(
            index_address >> shift, address >> shift, stamp.changes, [&](std::uint32_t was) {
                return was == stamp.before || (stamp.writer < cpus_.size() && cpus_[stamp.writer]);
            });
    }
    // Whether there is a copy, valid or not. A CPU calls this function for the last level of
    // another CPU if the two CPUs do not share it. It is called only for the last level, which
    // keeps copies longest.
    bool holds(std::uint64_t address) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t line = address >> sets_.shape().line_shift;
        return sets_.holds(line, line);
    }
    unsigned line_shift() const { return sets_.shape().line_shift; }

  private:
    Sets sets_;
    std::vector<bool> cpus_;
    bool is_locked_;
    std::mutex mutex_;
};

// One of the two levels of a core's TLB: an array for small pages and an array for huge pages, or
// one array for both.
struct TlbShape {
    Shape small, huge;     // no sets: the level has no such array
    bool unified = false;  // huge pages are in the array for small pages
};
struct TlbMisses {
    bool first = false, walk = false;  // walk: no level had the page
};
class Tlb {
  public:
    explicit Tlb(const TlbShape (&levels)[2]) : levels_{Level(levels[0]), Level(levels[1])} {}

    TlbMisses look_up(std::uint64_t address, bool is_huge) {
        const std::uint64_t page = address >> (is_huge ? 21 : 12);
        if (levels_[0].has(page, is_huge)) return {};
        return {.first = true, .walk = !levels_[1].has(page, is_huge)};
    }

  private:
    struct Level {
        explicit Level(const TlbShape& shape)
            : small(shape.small), huge(shape.huge), unified(shape.unified) {}
        bool has(std::uint64_t page, bool is_huge) {
            Sets& sets = is_huge && !unified ? huge : small;
            return sets.shape().sets != 0 && sets.look_up(page, page << 1 | (is_huge ? 1 : 0), 0,
                                                          [](std::uint32_t) { return true; });
        }
        Sets small, huge;
        bool unified;
    };
    Level levels_[2];
};

}  // namespace nw::qemu
