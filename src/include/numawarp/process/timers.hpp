// Times at which something happens in an LP: a heap of four children a node, in which each entry knows its
// place, so that a time that is no longer of interest leaves at once. At equal times the order is that in
// which they were set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <numawarp/process/awaited.hpp>
#include <numawarp/time.hpp>

namespace nw {

// Happens at a time. Made by Environment::delay() and until().
class [[nodiscard]] Delay final : public Awaited {
  public:
    Delay(Environment& env, VirtualTime time);
    Delay(const Delay&) = delete;
    Delay& operator=(const Delay&) = delete;
    ~Delay() {
        if (place_ != no_place) leave();
    }
    void result() noexcept {}

  private:
    friend class Timers;
    static constexpr std::uint32_t no_place = UINT32_MAX;
    void leave() noexcept;

    std::uint32_t place_ = no_place;
};

class Timers {
  public:
    bool is_empty() const noexcept { return heap_.size() == has_hole_; }
    // Requires: not empty.
    VirtualTime first_time() noexcept {
        if (has_hole_) fill_hole();
        return heap_.front().time;
    }

    void set(Delay& delay, VirtualTime time) {
        const Entry entry{time, sequence_++, &delay};
        if (has_hole_) {
            has_hole_ = false;
            sink(0, entry);
        } else {
            heap_.push_back(entry);
            rise(heap_.size() - 1, entry);
        }
    }

    // Requires: not empty. The first entry leaves a hole, which the next to be set often fills at once.
    Delay& take_first() noexcept {
        if (has_hole_) fill_hole();
        Delay& first = *heap_.front().delay;
        first.place_ = Delay::no_place;
        has_hole_ = true;
        return first;
    }

    void remove(Delay& delay) noexcept {
        if (has_hole_) fill_hole();
        const std::size_t place = delay.place_;
        delay.place_ = Delay::no_place;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (place == heap_.size()) return;
        if (place > 0 && last.is_before(heap_[parent(place)]))
            rise(place, last);
        else
            sink(place, last);
    }

  private:
    struct Entry {
        VirtualTime time;
        std::uint64_t sequence;
        Delay* delay;
        bool is_before(const Entry& other) const noexcept {
            return time < other.time || (time == other.time && sequence < other.sequence);
        }
    };
    static constexpr std::size_t children = 4;
    static constexpr std::size_t parent(std::size_t place) noexcept {
        return (place - 1) / children;
    }

    void put(std::size_t place, const Entry& entry) noexcept {
        heap_[place] = entry;
        entry.delay->place_ = static_cast<std::uint32_t>(place);
    }
    void rise(std::size_t place, const Entry entry) noexcept {
        for (; place > 0 && entry.is_before(heap_[parent(place)]); place = parent(place))
            put(place, heap_[parent(place)]);
        put(place, entry);
    }
    void sink(std::size_t place, const Entry entry) noexcept {
        for (;;) {
            const std::size_t begin = place * children + 1;
            if (begin >= heap_.size()) break;
            const std::size_t end =
                begin + children < heap_.size() ? begin + children : heap_.size();
            std::size_t least = begin;
            for (std::size_t child = begin + 1; child < end; ++child)
                if (heap_[child].is_before(heap_[least])) least = child;
            if (!heap_[least].is_before(entry)) break;
            put(place, heap_[least]);
            place = least;
        }
        put(place, entry);
    }
    void fill_hole() noexcept {
        has_hole_ = false;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(0, last);
    }

    std::vector<Entry> heap_;
    std::uint64_t sequence_ = 0;
    bool has_hole_ = false;  // heap_[0] has been taken
};

}  // namespace nw
