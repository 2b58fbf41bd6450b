// SPDX-License-Identifier: Apache-2.0
// A group's memory for the data of the engine: events, history, sent records, snapshots. It is not
// recoverable and has no locks. Thread: one owner, which passes the whole heap on when the group
// moves.
//
// Size classes are multiples of 64 bytes up to 1 KiB, then four steps per doubling up to 1 MiB.
// Every address is a multiple of 64. Each class has a last-in-first-out list of free chunks, so
// that the next chunk is probably in the cache. New chunks are cut from a segment; the size of
// segments doubles as the group grows. A request of more than 1 MiB gets a separate segment, which
// free() releases.
//
// A chunk keeps its class. So for each class, a group holds the largest number of chunks that it
// has used at one time. Chunks change their class only if memory is short: a free chunk of a larger
// class is split before fresh memory is taken, and release_free_pages() joins neighboring free
// chunks and returns whole pages to the kernel.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "numa/os/os.hpp"
#include "util/prefetch.hpp"

namespace nw {

class Packer;
class SegmentTable;
class Unpacker;

// Thrown if the engine itself gets no more memory. The run then ends, independent of the model's
// actions.
class PlatformOutOfMemory : public std::bad_alloc {};

class PlatformHeap {
  public:
    static constexpr std::size_t alignment = 64;
    static constexpr std::size_t small_max = 1024;
    static constexpr std::size_t chunk_max = std::size_t{1} << 20;

    explicit PlatformHeap(SegmentTable& segments) noexcept : segments_(segments) {}
    PlatformHeap(const PlatformHeap&) = delete;
    PlatformHeap& operator=(const PlatformHeap&) = delete;

    // Throws PlatformOutOfMemory when the slot is full.
    void* allocate(std::size_t bytes) {
        if (bytes <= small_max) [[likely]] {
            const std::size_t c = (bytes + (alignment - 1)) / alignment;
            Chunk* const chunk = free_[c];
            if (chunk != nullptr) [[likely]] {
                free_[c] = chunk->next;
                prefetch(chunk->next);
                live_bytes_ += c * alignment;
                return chunk;
            }
        }
        return allocate_slow(bytes);
    }

    // Requires: `address` came from allocate(b), where b has the same class as `bytes` (for example
    // b itself, or chunk_bytes(b)).
    void free(void* address, std::size_t bytes) noexcept {
        if (bytes <= small_max) [[likely]] {
            const std::size_t c = (bytes + (alignment - 1)) / alignment;
            Chunk* const chunk = static_cast<Chunk*>(address);
            chunk->next = free_[c];
            free_[c] = chunk;
            live_bytes_ -= c * alignment;
            return;
        }
        free_slow(address, bytes);
    }

    // The number of bytes that a request of `bytes` bytes occupies.
    static constexpr std::size_t chunk_bytes(std::size_t bytes) noexcept {
        if (bytes <= small_max) return (bytes + (alignment - 1)) / alignment * alignment;
        if (bytes > chunk_max) return (bytes + (page_bytes - 1)) / page_bytes * page_bytes;
        const unsigned step = static_cast<unsigned>(std::bit_width(bytes - 1)) - 3;
        return ((bytes - 1) >> step << step) + (std::size_t{1} << step);
    }

    // Bytes allocated and not freed, in whole chunks.
    std::size_t live_bytes() const noexcept { return live_bytes_; }

    // Bytes of all segments of this heap, used or not.
    std::size_t held_bytes() const noexcept { return held_bytes_; }

    // Bytes of chunks that were used and are in the free lists. They can be used again at no cost.
    std::size_t free_bytes() const noexcept {
        const std::size_t fresh = static_cast<std::size_t>(bump_end_ - bump_) + spare_bytes_;
        return held_bytes_ - live_bytes_ - fresh;
    }

    // Joins neighboring free chunks, and releases the pages without live chunks to the kernel.
    // Returns the number of released bytes.
    // Cost: a cache miss per free chunk, a system call per run of pages.
    std::size_t release_free_pages();

    // Returns to the kernel the pages from which no chunk was cut yet. Some of them can be resident
    // as parts of huge pages.
    void discard_fresh() noexcept;

    // Adds to history_bytes(), the part of live_bytes() that histories of LPs use. The owner of the
    // heap counts these bytes for the report of memory by kind, because the heap cannot distinguish
    // chunks by use.
    void count_history(std::ptrdiff_t bytes) noexcept {
        history_bytes_ += static_cast<std::size_t>(bytes);
    }
    std::size_t history_bytes() const noexcept { return history_bytes_; }

    // The state of the heap outside of its segments. The segments contain the chunks and their
    // lists. See group_image.hpp.
    void save(Packer& out) const;
    void load(Unpacker& in);

    void validate() const;

  private:
    class FreeMap;
    struct Chunk {
        Chunk* next;
    };
    // Whole pages that were returned to the kernel or never used. They can be cut like a fresh
    // segment.
    struct Range {
        std::byte* base;
        std::size_t bytes;
    };
    static constexpr std::size_t small_classes = small_max / alignment + 1;
    static constexpr std::size_t classes = small_classes + 4 * 10;

    template <class Part, class Heap>
    static void visit_parts(Part& part, Heap& heap) {
        part(heap.free_);
        part(heap.bump_);
        part(heap.bump_end_);
        part(heap.refill_bytes_);
        part(heap.live_bytes_);
        part(heap.held_bytes_);
        part(heap.spare_);
        part(heap.spare_bytes_);
        part(heap.history_bytes_);
    }
    static std::size_t class_of(std::size_t bytes) noexcept;
    void* allocate_slow(std::size_t bytes);
    void free_slow(void* address, std::size_t bytes) noexcept;
    void* cut(std::size_t bytes);
    bool take_spare(std::size_t bytes);
    void keep_rest();
    void* split_larger(std::size_t bytes) noexcept;
    void put_back(std::byte* begin, std::byte* end) noexcept;
    void give_back(std::byte* begin, std::byte* end);
    static std::size_t bytes_of_class(std::size_t c) noexcept;

    std::array<Chunk*, classes> free_{};
    std::byte* bump_ = nullptr;  // chunks are cut from [bump_, bump_end_)
    std::byte* bump_end_ = nullptr;
    std::size_t refill_bytes_ = 4 * page_bytes;
    std::size_t live_bytes_ = 0;
    std::size_t held_bytes_ = 0;
    std::vector<Range> spare_;  // in memory of libc
    std::size_t spare_bytes_ = 0;
    std::size_t history_bytes_ = 0;
    SegmentTable& segments_;
};

}  // namespace nw
