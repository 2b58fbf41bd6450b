// SPDX-License-Identifier: Apache-2.0
// The times at which something happens in an LP: a heap in which each node has four children. Equal
// times are in the order in which they were set. The entry of a withdrawn time stays in the heap.
// The entry is removed when it reaches the top, or together with other entries when half of all
// entries are withdrawn. Operations of the heap therefore move only its own small entries. The
// operations do not access the frames of the waiting coroutines, which are spread over the LP's
// memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <numawarp/process/awaited.hpp>
#include <numawarp/time.hpp>

namespace nw {

// Happens at a given time. Made by Environment::delay() and until().
class [[nodiscard]] Delay final : public Awaited {
  public:
    // Called by Environment::delay() and until(). Happens at `time`.
    Delay(Environment& env, VirtualTime time);
    Delay(const Delay&) = delete;
    Delay& operator=(const Delay&) = delete;
    ~Delay() {
        if (slot_ != no_slot) leave();
    }
    // The time from now until the delay happens; 0 if it has happened.
    double left() const noexcept;
    // The result of co_await: none.
    void result() noexcept {}

  private:
    friend class Timers;
    static constexpr std::uint32_t no_slot = UINT32_MAX;
    void leave() noexcept;

    VirtualTime time_;
    std::uint32_t slot_ = no_slot;  // valid while the delay is set
};

// All delays of an environment. Not called by models.
class Timers {
  public:
    // The earliest time at which a delay happens; time_infinity if there is none.
    VirtualTime first_time() noexcept {
        drop_withdrawn();
        return heap_.empty() ? time_infinity : heap_.front().time();
    }

    // True if a delay is due at `time`. In most cases the call does not fill the hole that
    // take_first() has left.
    bool has_due(VirtualTime time) noexcept {
        if (!has_hole_) return first_time() <= time;
        const std::size_t end = heap_.size() < children + 1 ? heap_.size() : children + 1;
        for (std::size_t child = 1; child < end; ++child)
            if (heap_[child].time() <= time) return first_time() <= time;
        return false;
    }

    // Sets the delay to happen at `time`.
    void set(Delay& delay, VirtualTime time) {
        delay.slot_ = take_slot(delay);
        const Entry entry(time, sequence_++ << slot_bits | delay.slot_);
        if (has_hole_) {
            has_hole_ = false;
            sink(0, entry);
        } else {
            heap_.push_back(entry);
            rise(heap_.size() - 1, entry);
        }
    }

    // Removes the first delay and returns it. Requires: has_due() has returned true. The entry
    // leaves a hole, which the next call of set() often fills at once.
    Delay& take_first() noexcept {
        const std::uint32_t slot = heap_.front().slot();
        Delay& first = *slots_[slot].delay;
        first.slot_ = Delay::no_slot;
        free_slot(slot);
        has_hole_ = true;
        return first;
    }

    // Withdraws the delay: it will not happen. Requires: the delay was set and has not happened.
    void withdraw(Delay& delay) noexcept {
        slots_[delay.slot_].delay = nullptr;
        delay.slot_ = Delay::no_slot;
        if (++withdrawn_ > heap_.size() / 2) drop_all_withdrawn();
    }

  private:
    static constexpr unsigned slot_bits = 24;  // 2^24 waits at a time, 2^40 in a run
    __extension__ using Key = unsigned __int128;
    // Times are not negative, so their bits have the same order as the times. One comparison of
    // keys compares times and sequence numbers.
    struct Entry {
        Key key;
        Entry(VirtualTime time, std::uint64_t order) noexcept
            : key(Key{std::bit_cast<std::uint64_t>(time + 0.0)} << 64 | order) {}
        VirtualTime time() const noexcept {
            return std::bit_cast<VirtualTime>(static_cast<std::uint64_t>(key >> 64));
        }
        std::uint32_t slot() const noexcept {
            return static_cast<std::uint32_t>(key) & ((1u << slot_bits) - 1);
        }
        bool is_before(const Entry& other) const noexcept { return key < other.key; }
    };
    union Slot {
        Delay* delay;             // null: withdrawn
        std::uint64_t next_free;  // in a free slot: the next free slot
    };
    static constexpr std::size_t children = 4;
    static constexpr std::size_t parent(std::size_t place) noexcept {
        return (place - 1) / children;
    }

    std::uint32_t take_slot(Delay& delay) {
        if (first_free_ == slots_.size()) {
            slots_.push_back({.next_free = slots_.size() + 1});
            if (slots_.size() >> slot_bits != 0) throw std::bad_alloc();
        }
        const std::uint64_t slot = first_free_;
        first_free_ = slots_[slot].next_free;
        slots_[slot].delay = &delay;
        return static_cast<std::uint32_t>(slot);
    }
    void free_slot(std::uint32_t slot) noexcept {
        slots_[slot].next_free = first_free_;
        first_free_ = slot;
    }

    void rise(std::size_t place, const Entry entry) noexcept {
        for (; place > 0 && entry.is_before(heap_[parent(place)]); place = parent(place))
            heap_[place] = heap_[parent(place)];
        heap_[place] = entry;
    }
    void sink(std::size_t place, const Entry entry) noexcept {
        const std::size_t size = heap_.size();
        Entry* const heap = heap_.data();
        for (std::size_t child; (child = place * children + 1) < size;) {
            const std::size_t least =
                child + children <= size ? least_of_four(heap, child) : least_of(heap, child, size);
            if (!heap[least].is_before(entry)) break;
            heap[place] = heap[least];
            place = least;
        }
        heap[place] = entry;
    }
    // The processor could not predict branches on the comparisons, so the code has no branches.
    static std::size_t least_of_four(const Entry* heap, std::size_t first) noexcept {
        const std::size_t one = first + heap[first + 1].is_before(heap[first]);
        const std::size_t other = first + 2 + heap[first + 3].is_before(heap[first + 2]);
        return one + (other - one) * heap[other].is_before(heap[one]);
    }
    static std::size_t least_of(const Entry* heap, std::size_t first, std::size_t end) noexcept {
        for (std::size_t child = first; ++child < end;)
            if (heap[child].is_before(heap[first])) first = child;
        return first;
    }
    void remove_first() noexcept {
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(0, last);
    }
    void drop_withdrawn() noexcept {
        if (has_hole_) remove_first();
        has_hole_ = false;
        while (withdrawn_ > 0 && slots_[heap_.front().slot()].delay == nullptr) {
            free_slot(heap_.front().slot());
            remove_first();
            --withdrawn_;
        }
    }
    void drop_all_withdrawn() noexcept {
        if (has_hole_) remove_first();
        has_hole_ = false;
        std::erase_if(heap_, [this](const Entry& entry) {
            if (slots_[entry.slot()].delay != nullptr) return false;
            free_slot(entry.slot());
            return true;
        });
        for (std::size_t place = heap_.size(); place-- > 0;) sink(place, Entry(heap_[place]));
        withdrawn_ = 0;
    }

    std::vector<Entry> heap_;
    std::vector<Slot> slots_;
    std::uint64_t first_free_ = 0;  // list of free slots; its end is slots_.size()
    std::uint64_t sequence_ = 0;
    std::size_t withdrawn_ = 0;  // heap entries whose delay was withdrawn
    bool has_hole_ = false;      // heap_[0] was taken
};

}  // namespace nw
