// SPDX-License-Identifier: Apache-2.0
// Stacks of pending entries, in chunks of one size that share memory.
//
// The pending set has thousands of unsorted buckets, and at any time most of them are growing. If
// each bucket were a vector, it would copy its entries when it grows, and hold up to twice the
// memory that it needs. Here a bucket takes a chunk of 31 entries at a time. It returns the chunk
// right after the entries were read, so that the next bucket takes a chunk that is still in the
// cache.
//
// The owner of a stack stores only its tail: the address of the next entry, or null if the stack is
// empty. The address of the last entry is masked to find its chunk. If the tail is a multiple of
// the chunk size, for example null, the stack has no free place. Therefore push() costs one
// comparison and one store.
//
// Thread: the owner of the pending set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "event/pending_entry.hpp"
#include "util/prefetch.hpp"

namespace nw {

class EntryPool {
  public:
    EntryPool() = default;
    EntryPool(const EntryPool&) = delete;
    EntryPool& operator=(const EntryPool&) = delete;

    // Pushes an entry, given as a PendingEntry or as words of the same size, and advances the tail.
    template <class Words>
    void push(PendingEntry*& tail, const Words& words) {
        static_assert(sizeof words == sizeof *tail);
        PendingEntry* place = tail;
        if (reinterpret_cast<std::uintptr_t>(place) % chunk_bytes == 0) [[unlikely]]
            place = extend(place);
        if constexpr (std::is_same_v<Words, PendingEntry>)
            copy_by_words(place, words);  // for short events, memcpy is as fast
        else
            std::memcpy(static_cast<void*>(place), &words, sizeof words);
        tail = place + 1;
    }

    static std::size_t count(const PendingEntry* tail) noexcept {
        if (tail == nullptr) return 0;
        const Chunk* const chunk = chunk_of(tail);
        return chunk->below + static_cast<std::size_t>(tail - chunk->entries);
    }

    // Visits the entries of a stack. The order is unspecified, but the same as in consume().
    template <class Visit>
    static void for_each(PendingEntry* tail, Visit visit) {
        while (tail != nullptr) {
            Chunk* chunk = chunk_of(tail);
            prefetch_chunk(chunk->previous);
            for (PendingEntry* entry = chunk->entries; entry != tail; ++entry) visit(*entry);
            tail = end_of(chunk->previous);
        }
    }

    // Visits the entries of a stack and takes back its memory. `visit` may push onto other stacks.
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

    // Copies with registers of eight bytes. An entry for a new record was written just before, in
    // words of eight bytes. A load of two such words waits until both have left the store buffer.
    // Older stores must leave the store buffer first: the stores to the record and to the history,
    // which often miss the cache.
    static void copy_by_words(PendingEntry* to, const PendingEntry& from) noexcept {
        constexpr std::size_t word_bytes = sizeof(std::uint64_t);
        for (std::size_t at = 0; at < sizeof from; at += word_bytes) {
            std::uint64_t word;
            std::memcpy(&word, reinterpret_cast<const std::byte*>(&from) + at, word_bytes);
            asm("" : "+r"(word));  // the compiler must not join two words
            std::memcpy(reinterpret_cast<std::byte*>(to) + at, &word, word_bytes);
        }
    }

    struct alignas(chunk_bytes) Chunk {
        static constexpr std::size_t capacity = chunk_bytes / sizeof(PendingEntry) - 1;
        Chunk* previous;    // a full chunk of the same stack; or the next free chunk
        std::size_t below;  // number of entries in the chunks from `previous` on
        alignas(sizeof(PendingEntry)) PendingEntry entries[capacity];
    };
    static_assert(sizeof(Chunk) == chunk_bytes);

    // Prefetches all cache lines of the chunk that is read next.
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
