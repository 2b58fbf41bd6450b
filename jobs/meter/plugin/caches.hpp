// The model of a machine's caches and TLBs: sets with least-recently-used replacement, filled on every
// miss, for loads and stores alike. What counts is what the last level does not have: an access to memory.
//
// A core's write makes the copies of others worthless. Each line of memory has a stamp: who wrote it last,
// and how often copies became worthless; a copy is good if that is as it was, or if one of its own cache's
// cores wrote last. So nobody goes through the caches of others.
//
// Left out: fetching ahead, write-back traffic, instruction fetches, accesses by the kernel, exclusive or
// inclusive levels (each is filled by itself).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace nw::meter {

// Of a line: how often copies of it had become worthless before this access, and with it, and the CPU that had
// written it before.
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
    // The writer's CPU + 1, whether another has read it since, a count.
    static constexpr std::uint32_t cpu_mask = 0x7f, read_bit = 0x80;
    static constexpr unsigned count_shift = 8;
    std::vector<std::atomic<std::uint32_t>> words_;
};

struct Shape {
    unsigned line_shift = 6;
    std::uint64_t sets = 0;  // 0: there is no such cache
    unsigned ways = 0;
};

// Keys with stamps; those of a set stand in the order of their last use.
class Sets {
  public:
    explicit Sets(Shape shape) : shape_(shape), entries_(shape.sets * shape.ways) {}

    const Shape& shape() const { return shape_; }

    // Whether `key` was there, with a stamp for which is_good; it is there now, with the new stamp.
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
        std::uint64_t key = 0;  // + 1; 0: nothing
        std::uint32_t stamp = 0;
    };
    Shape shape_;
    std::vector<Entry> entries_;
};

// One cache, of one core or of several.
class Cache {
  public:
    // is_asked: by CPUs that are not its own, too.
    Cache(Shape shape, std::vector<bool> cpus, bool is_asked)
        : sets_(shape),
          cpus_(std::move(cpus)),
          is_locked_(is_asked || std::count(cpus_.begin(), cpus_.end(), true) > 1) {}

    // Whether a good copy was there; there is one now. What is written was good before, if nobody else had written
    // since it was read. The writer's own is good: had anybody written in between, it would not be the writer.
    bool look_up(std::uint64_t index_address, std::uint64_t address, Stamp stamp) {
        std::unique_lock lock(mutex_, std::defer_lock);
        if (is_locked_) lock.lock();
        const unsigned shift = sets_.shape().line_shift;
        return sets_.look_up(
            index_address >> shift, address >> shift, stamp.changes, [&](std::uint32_t was) {
                return was == stamp.before || (stamp.writer < cpus_.size() && cpus_[stamp.writer]);
            });
    }
    // Whether there is a copy, good or not. For others than its cores, so it is asked of the last level, whose
    // copies are the oldest.
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

// Of one core: two levels, each with an array for small pages and one for huge ones, or one for both.
struct TlbShape {
    Shape small, huge;     // of no sets: there is none
    bool unified = false;  // huge pages are in the array of the small ones
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

}  // namespace nw::meter
