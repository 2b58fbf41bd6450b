// What an LP has executed and may have to take back: a ring of entries, oldest first, one an event.
// Positions are ordinals ("the LP's n-th executed event"), counted modulo 2^32; an entry stays at
// its position until it is trimmed at the front (fossil collection) or at the back (rollback).
//
// A ring and not a list through the events: coasting forward walks it onwards, rollback backwards,
// commit from the front, and with small plain states the bytes to restore lie in the entry itself.
// Owner: the worker that owns the LP. Memory: the group's platform heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/prefetch.hpp"
#include "event/event_record.hpp"
#include "numa/heap/platform_heap.hpp"

namespace nw {

// A side effect of an executed event, kept until that is committed or undone: what it sent to another
// worker, a row of output, figures that were looked at before it, or the words of its failure. `bytes` bytes of
// content follow.
struct SideEffect {
    static constexpr std::size_t tables_max = 65'536;

    enum class Kind : std::uint8_t { remote_send, output_row, figures, failure };
    SideEffect* next;
    std::uint32_t bytes;
    Kind kind;
    std::uint16_t table;  // of an output row

    std::byte* content() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* content() const noexcept {
        return reinterpret_cast<const std::byte*>(this + 1);
    }
    std::span<const std::byte> bytes_of() const noexcept { return {content(), bytes}; }
    std::size_t total_bytes() const noexcept { return sizeof(SideEffect) + bytes; }
};

struct HistoryEntry {
    EventRecord* event;
    EventRecord*
        sent;  // chain by next_sent: events sent to LPs that this worker owned at the time.
               // Valid until GVT, with its generation, passes the event.
    SideEffect* side_effects;
    std::uint32_t random_used;  // blocks of random numbers
    std::uint32_t sent_count;   // all sends, including those beyond the end of the run

    // The state before the event (plain copies) or the control word (reverse); see StateKeeping.
    std::byte* undo() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(HistoryEntry) == 32);

class History {
  public:
    using Ordinal = std::uint32_t;

    // The ordinal of an LP's first event. It is not 0, so that every run meets the wrap early and not
    // after 2^32 events of one LP, which no test waits for.
    static constexpr Ordinal first = 0u - 32;

    Ordinal head() const noexcept { return head_; }  // oldest entry kept
    Ordinal tail() const noexcept { return tail_; }  // one past the newest
    bool empty() const noexcept { return head_ == tail_; }
    std::uint32_t size() const noexcept { return tail_ - head_; }

    // Requires: position in [head, tail). `stride` is the run's bytes per entry.
    HistoryEntry& at(Ordinal position, std::uint32_t stride) noexcept {
        return *reinterpret_cast<HistoryEntry*>(entries_ + std::size_t{position & mask_} * stride);
    }

    const HistoryEntry& at(Ordinal position, std::uint32_t stride) const noexcept {
        return *reinterpret_cast<const HistoryEntry*>(entries_ +
                                                      std::size_t{position & mask_} * stride);
    }

    // A new last entry, its fields not yet set.
    HistoryEntry& append(std::uint32_t stride, PlatformHeap& heap) {
        if (size() == capacity()) [[unlikely]]
            grow(stride, heap);
        return at(tail_++, stride);
    }

    // Hints to the cache: where the next entry goes, where the oldest is.
    void prefetch_next(std::uint32_t stride) const noexcept { prefetch_place(tail_, stride); }
    void prefetch_first(std::uint32_t stride) const noexcept { prefetch_place(head_, stride); }

    void drop_last() noexcept { --tail_; }
    void drop_first() noexcept { ++head_; }

    void release(std::uint32_t stride, PlatformHeap& heap) noexcept {
        if (entries_ != nullptr) {
            heap.free(entries_, std::size_t{capacity()} * stride);
            heap.count_history(-ring_bytes(capacity(), stride));
        }
        entries_ = nullptr;
        mask_ = no_capacity;
    }

    // The ring itself; what must hold of its entries: validate.hpp.
    void validate() const;

  private:
    // There may be no entries yet, and then no arithmetic with their address.
    void prefetch_place(Ordinal position, std::uint32_t stride) const noexcept {
        prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(entries_) +
                                               std::size_t{position & mask_} * stride));
    }

    static constexpr std::uint32_t no_capacity = ~std::uint32_t{0};

    std::uint32_t capacity() const noexcept { return mask_ + 1; }  // 0 or a power of two

    static std::ptrdiff_t ring_bytes(std::uint32_t capacity, std::uint32_t stride) noexcept {
        return static_cast<std::ptrdiff_t>(
            PlatformHeap::chunk_bytes(std::size_t{capacity} * stride));
    }

    void grow(std::uint32_t stride, PlatformHeap& heap);

    std::byte* entries_ = nullptr;  // entry p stands at p mod capacity
    Ordinal head_ = first;
    Ordinal tail_ = first;
    std::uint32_t mask_ = no_capacity;  // capacity - 1
};

}  // namespace nw
