// A group's memory for what the engine itself keeps: events, history, sent records, snapshots. Not
// recoverable, no locks: one owner thread, which hands the whole group over when it moves.
//
// Size classes are multiples of 64 bytes up to 1 KiB, then four steps a doubling up to 1 MiB; every
// address is a multiple of 64. Freed chunks wait in a last-in-first-out list a class (the next one
// to be used is the one in the cache); fresh ones are cut from a segment that doubles with the
// group's size. More than 1 MiB is a segment of its own, given back when freed.
//
// A chunk keeps its class: a group whose demand wanders through many classes keeps the peak of each.
// That is different where memory is short (platform_heap_release.cpp): then a free chunk of a larger
// class is split before fresh memory is taken, and release_free_pages() joins free neighbours and
// gives whole pages back.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "base/prefetch.hpp"
#include "numa/os/os.hpp"

namespace nw {

class Packer;
class SegmentTable;
class Unpacker;

// The engine itself gets no more memory: the end of the run, whatever the model was doing.
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

    // Requires: address came from allocate(b) with the same class as `bytes` (b itself, or what
    // chunk_bytes(b) says).
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

    // What a request of `bytes` really occupies.
    static constexpr std::size_t chunk_bytes(std::size_t bytes) noexcept {
        if (bytes <= small_max) return (bytes + (alignment - 1)) / alignment * alignment;
        if (bytes > chunk_max) return (bytes + (page_bytes - 1)) / page_bytes * page_bytes;
        const unsigned step = static_cast<unsigned>(std::bit_width(bytes - 1)) - 3;
        return ((bytes - 1) >> step << step) + (std::size_t{1} << step);
    }

    // Bytes allocated and not freed, in whole chunks.
    std::size_t live_bytes() const noexcept { return live_bytes_; }

    // Bytes of the segments that chunks are cut from, in use or not.
    std::size_t held_bytes() const noexcept { return held_bytes_; }

    // Bytes that were in use and wait in the lists: memory that costs nothing to use.
    std::size_t free_bytes() const noexcept {
        const std::size_t fresh = static_cast<std::size_t>(bump_end_ - bump_) + spare_bytes_;
        return held_bytes_ - live_bytes_ - fresh;
    }

    // Joins free neighbours, and gives back the pages in which nothing is live. Returns their bytes.
    // Cost: a cache miss for each free chunk, a system call for each run of pages.
    std::size_t release_free_pages();

    // Gives back the pages that were never asked for, of which huge ones hold some.
    void discard_fresh() noexcept;

    // Adds to the part of live_bytes() that is histories of LPs. The owner counts it for the report of
    // memory by kind, since all chunks look alike from here.
    void count_history(std::ptrdiff_t bytes) noexcept {
        history_bytes_ += static_cast<std::size_t>(bytes);
    }
    std::size_t history_bytes() const noexcept { return history_bytes_; }

    // What the heap knows of its segments; the chunks and their lists are in those. See group_image.hpp.
    void save(Packer& out) const;
    void load(Unpacker& in);

    void validate() const;

  private:
    class FreeMap;
    struct Chunk {
        Chunk* next;
    };
    // Whole pages that were given back or never used: as good as a fresh segment.
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
    std::byte* bump_ = nullptr;  // [bump_, bump_end_) is fresh
    std::byte* bump_end_ = nullptr;
    std::size_t refill_bytes_ = 4 * page_bytes;
    std::size_t live_bytes_ = 0;
    std::size_t held_bytes_ = 0;
    std::vector<Range> spare_;  // libc's memory
    std::size_t spare_bytes_ = 0;
    std::size_t history_bytes_ = 0;
    SegmentTable& segments_;
};

}  // namespace nw
