// SPDX-License-Identifier: Apache-2.0
// The events that an LP has executed and may have to undo. They are in a ring with one entry per
// event, oldest first. The position of an entry is an ordinal modulo 2^32, one more than the
// position of the entry before it. An entry keeps its position until it is removed at the front
// (fossil collection) or at the back (rollback).
//
// A ring is better than a linked list of the events, because entries are needed in both directions.
// Coasting forward reads from older to newer entries, rollback reads from newer to older entries,
// and commit removes entries at the front. The bytes that restore a small plain state are in the
// entry itself.
//
// Owner: the worker that owns the LP. Memory: the group's platform heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "event/event_record.hpp"
#include "memory/heap/platform_heap.hpp"
#include "util/prefetch.hpp"

namespace nw {

// A side effect of an executed event, which is kept until the event is committed or undone. There
// are four kinds: the anti-message of an event that was sent to another worker, or that was
// scheduled by an event in the log; a row of output; figures that were evaluated before the event;
// and the text of the event's failure. `bytes` bytes of content follow this struct.
struct SideEffect {
    enum class Kind : std::uint8_t { remote_send, output_row, figures, failure };
    SideEffect* next;
    std::uint32_t bytes;
    Kind kind;
    std::uint16_t table;  // of an output row; below detail::output_tables_max

    std::byte* content() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* content() const noexcept {
        return reinterpret_cast<const std::byte*>(this + 1);
    }
    std::span<const std::byte> bytes_of() const noexcept { return {content(), bytes}; }
    std::size_t total_bytes() const noexcept { return sizeof(SideEffect) + bytes; }
};

struct HistoryEntry {
    EventRecord* event;
    // The first of the events that were sent to LPs of the same worker; next_sent links the list.
    // Valid until GVT (time and generation) passes the event.
    EventRecord* sent;
    SideEffect* side_effects;
    std::uint32_t random_used;  // blocks of random numbers
    std::uint32_t sent_count;   // all sends, including those beyond the end of the run

    // The state before the event (plain copies) or the control word (reverse); see StateKeeper.
    // Requires: the entry is in a History, which reserves the bytes.
    std::byte* undo() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(HistoryEntry) == 32);

class History {
  public:
    using Ordinal = std::uint32_t;

    // The ordinal of an LP's first event. It is close to the maximum, so that ordinals overflow to
    // 0 early in every run, also in tests.
    static constexpr Ordinal first = 0u - 32;

    Ordinal head() const noexcept { return head_; }  // the oldest entry
    Ordinal tail() const noexcept { return tail_; }  // one past the newest entry
    bool empty() const noexcept { return head_ == tail_; }
    std::uint32_t size() const noexcept { return tail_ - head_; }

    // Requires: position in [head, tail). `stride`: bytes per entry.
    HistoryEntry& at(Ordinal position, std::uint32_t stride) noexcept {
        return *reinterpret_cast<HistoryEntry*>(entries_ + std::size_t{position & mask_} * stride);
    }

    const HistoryEntry& at(Ordinal position, std::uint32_t stride) const noexcept {
        return *reinterpret_cast<const HistoryEntry*>(entries_ +
                                                      std::size_t{position & mask_} * stride);
    }

    // Appends an entry, whose fields are not set, and returns it.
    HistoryEntry& append(std::uint32_t stride, PlatformHeap& heap) {
        if (size() == capacity()) [[unlikely]]
            grow(stride, heap);
        return at(tail_++, stride);
    }

    // These functions prefetch the place of the next entry, and the fields of the oldest entry.
    void prefetch_next(std::uint32_t stride) const noexcept {
        prefetch(place_of(tail_, stride), stride);
    }
    void prefetch_first(std::uint32_t stride) const noexcept { prefetch(place_of(head_, stride)); }

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

    // Checks the ring. validate.hpp checks the entries.
    void validate() const;

  private:
    // Computes with integers, because pointer arithmetic is not allowed if there are no entries
    // yet.
    const void* place_of(Ordinal position, std::uint32_t stride) const noexcept {
        return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(entries_) +
                                             std::size_t{position & mask_} * stride);
    }

    static constexpr std::uint32_t no_capacity = ~std::uint32_t{0};

    std::uint32_t capacity() const noexcept { return mask_ + 1; }  // 0 or a power of two

    static std::ptrdiff_t ring_bytes(std::uint32_t capacity, std::uint32_t stride) noexcept {
        return static_cast<std::ptrdiff_t>(
            PlatformHeap::chunk_bytes(std::size_t{capacity} * stride));
    }

    void grow(std::uint32_t stride, PlatformHeap& heap);

    std::byte* entries_ = nullptr;  // entry p is at index p mod capacity
    Ordinal head_ = first;
    Ordinal tail_ = first;
    std::uint32_t mask_ = no_capacity;  // capacity - 1
};

}  // namespace nw
