// Stacks of pending entries in chunks of one size, and the memory that they share.
//
// The pending set keeps thousands of unsorted buckets, most of them growing at any time. A vector
// for each would copy entries as it grows and hold twice what it needs; here a bucket takes a chunk
// of 31 entries at a time, and gives it back for the next bucket to use while it is in the cache.
//
// All that a stack is to its owner is its tail: where the next entry goes, null for the empty stack.
// Its chunk is found by masking that address. A tail that is at a multiple of the chunk size, as
// null is, has no place left, which makes push one comparison and one store.
//
// Thread: the owner of the pending set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/prefetch.hpp"
#include "event/event_key.hpp"

namespace nw {

class EntryPool {
  public:
    EntryPool() = default;
    EntryPool(const EntryPool&) = delete;
    EntryPool& operator=(const EntryPool&) = delete;

    // Pushes an entry, or its words, onto the stack of this tail and moves the tail on.
    template <class Words>
    void push(PendingEntry*& tail, const Words& words) {
        static_assert(sizeof words == sizeof *tail);
        PendingEntry* place = tail;
        if (reinterpret_cast<std::uintptr_t>(place) % chunk_bytes == 0) [[unlikely]]
            place = extend(place);
        std::memcpy(static_cast<void*>(place), &words, sizeof words);
        tail = place + 1;
    }

    static std::size_t count(const PendingEntry* tail) noexcept;

    // Visits the entries of a stack, in no order that matters, but the same as consume's.
    template <class Visit>
    static void for_each(PendingEntry* tail, Visit visit) {
        while (tail != nullptr) {
            Chunk* chunk = chunk_of(tail);
            prefetch_chunk(chunk->previous);
            for (PendingEntry* entry = chunk->entries; entry != tail; ++entry) visit(*entry);
            tail = end_of(chunk->previous);
        }
    }

    // The same, and takes back the memory. `visit` may push onto other stacks.
    template <class Visit>
    void consume(PendingEntry* tail, Visit visit) {
        while (tail != nullptr) {
            Chunk* chunk = chunk_of(tail);
            for (const PendingEntry* entry = chunk->entries; entry != tail; ++entry) visit(*entry);
            tail = end_of(chunk->previous);
            give_back(chunk);
        }
    }

    std::size_t bytes() const noexcept { return bytes_; }

  private:
    static constexpr std::size_t chunk_bytes = 1024;

    struct alignas(chunk_bytes) Chunk {
        static constexpr std::size_t capacity = chunk_bytes / sizeof(PendingEntry) - 1;
        Chunk* previous;  // of the same stack, and full; or of the list of free chunks
        alignas(sizeof(PendingEntry)) PendingEntry entries[capacity];
    };
    static_assert(sizeof(Chunk) == chunk_bytes);

    // All lines of the chunk that comes next, while the chunk before it is read.
    static void prefetch_chunk(const Chunk* chunk) noexcept {
        if (chunk == nullptr) return;
        for (std::size_t at = 0; at < chunk_bytes; at += 64)
            prefetch(reinterpret_cast<const std::byte*>(chunk) + at);
    }

    struct Free {
        void operator()(std::byte* memory) const noexcept;
    };

    // Requires: there is an entry before `tail`.
    static Chunk* chunk_of(const PendingEntry* tail) noexcept {
        const auto last = reinterpret_cast<std::uintptr_t>(tail - 1);
        return reinterpret_cast<Chunk*>(last / chunk_bytes * chunk_bytes);
    }
    static PendingEntry* end_of(Chunk* full) noexcept {
        return full != nullptr ? full->entries + Chunk::capacity : nullptr;
    }

    PendingEntry* extend(PendingEntry* tail);
    void give_back(Chunk* chunk) noexcept {
        chunk->previous = free_;
        free_ = chunk;
    }
    void grow();

    Chunk* free_ = nullptr;
    std::vector<std::unique_ptr<std::byte, Free>> slabs_;
    std::size_t bytes_ = 0;
};

}  // namespace nw
