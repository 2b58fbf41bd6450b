// SPDX-License-Identifier: Apache-2.0
#include "memory/heap/heap_guards.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace nw {

constinit bool heap_guards_on = false;
constinit int heap_fill = -1;

namespace {

// The header of a guarded block. It ends where the handler's memory begins.
struct Head {
    std::uint64_t bytes;        // requested size
    std::uint32_t data_offset;  // of the handler's memory in the chunk
    std::uint32_t mark;         // hash of the other two fields, so that small changes are detected
};
static_assert(sizeof(Head) == chunk_alignment);

constexpr std::size_t guard_bytes = 32;
constexpr std::byte guard_byte{0xFB};

std::uint32_t mark_of(std::uint64_t bytes, std::uint32_t data_offset) noexcept {
    const std::uint64_t mixed = (bytes * 64 + data_offset + 1) * 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::uint32_t>(mixed >> 32);
}

Head read_head(const std::byte* data) noexcept {
    Head head;
    std::memcpy(&head, data - sizeof head, sizeof head);
    return head;
}

// The only block that a chunk can contain, if its header is intact.
struct Found {
    std::byte* data = nullptr;  // null: the header is broken
    std::size_t bytes = 0;
};

// The data of a block begin at an offset that is a power of two, at least 16.
Found find_block(std::span<std::byte> chunk) noexcept {
    for (std::size_t offset = sizeof(Head); offset < chunk.size(); offset *= 2) {
        const Head head = read_head(chunk.data() + offset);
        if (head.data_offset == offset && head.mark == mark_of(head.bytes, head.data_offset) &&
            head.bytes + offset + guard_bytes <= chunk.size())
            return {chunk.data() + offset, head.bytes};
    }
    return {};
}

std::span<std::byte> guard_of(std::span<std::byte> chunk, const Found& block) noexcept {
    std::byte* const begin = block.data + block.bytes;
    return {begin, static_cast<std::size_t>(chunk.data() + chunk.size() - begin)};
}

const std::byte* first_change(std::span<const std::byte> guard) noexcept {
    const auto changed =
        std::find_if(guard.begin(), guard.end(), [](std::byte b) { return b != guard_byte; });
    return changed == guard.end() ? nullptr : guard.data() + (changed - guard.begin());
}

void write_head(std::byte* data, std::size_t bytes, std::size_t data_offset) noexcept {
    const auto offset = static_cast<std::uint32_t>(data_offset);
    const Head head{bytes, offset, mark_of(bytes, offset)};
    std::memcpy(data - sizeof head, &head, sizeof head);
}

void write_guard(std::span<std::byte> guard) noexcept {
    std::memset(guard.data(), static_cast<int>(guard_byte), guard.size());
}

// Finds the block that begins at the address, and its chunk. Returns a fault if there is no such
// block.
HeapFault locate(const LpHeap& heap, const void* address, std::span<std::byte>& chunk,
                 Found& block) noexcept {
    const HeapFault fault = heap.find_chunk(address, chunk);
    if (fault != HeapFault::none) return fault;
    block = find_block(chunk);
    if (block.data == nullptr) return HeapFault::underflow;
    return block.data == address ? HeapFault::none : HeapFault::not_a_chunk;
}

}  // namespace

void* HeapGuards::allocate(LpHeap& heap, std::size_t bytes, std::size_t alignment) noexcept {
    if (bytes > PTRDIFF_MAX / 2 || alignment > alignment_max) return nullptr;
    const std::size_t data_offset = std::max(alignment, sizeof(Head));
    const std::size_t all = data_offset + bytes + guard_bytes;
    void* const chunk_address =
        alignment <= sizeof(Head) ? heap.allocate(all) : heap.allocate_aligned(alignment, all);
    if (chunk_address == nullptr) return nullptr;
    auto* const begin = static_cast<std::byte*>(chunk_address);
    const std::span chunk(begin, heap.usable_size(begin));
    std::byte* const data = begin + data_offset;
    // Without this line, find_block() could mistake the remains of an earlier block for a header.
    std::memset(begin, 0, data_offset);
    write_head(data, bytes, data_offset);
    write_guard(guard_of(chunk, {data, bytes}));
    if (heap_fill >= 0) std::memset(data, heap_fill, bytes);
    return data;
}

void* HeapGuards::allocate_zeroed(LpHeap& heap, std::size_t bytes) noexcept {
    void* const data = allocate(heap, bytes, 0);
    if (data != nullptr) std::memset(data, 0, bytes);
    return data;
}

void* HeapGuards::reallocate(LpHeap& heap, void* address, std::size_t bytes) noexcept {
    void* const data = allocate(heap, bytes, 0);
    if (data == nullptr) return nullptr;
    std::memcpy(data, address, std::min(bytes, usable_size(address)));
    const HeapFault fault = free(heap, address);
    if (fault != HeapFault::none) post_heap_fault(fault);
    return data;
}

HeapFault HeapGuards::free(LpHeap& heap, void* address) noexcept {
    std::span<std::byte> chunk;
    Found block;
    const HeapFault fault = locate(heap, address, chunk, block);
    if (fault != HeapFault::none) return fault;
    const std::byte* const changed = first_change(guard_of(chunk, block));
    const std::size_t offset =
        changed == nullptr ? 0 : static_cast<std::size_t>(changed - block.data);
    const HeapFault freed = heap.free(chunk.data());
    return changed == nullptr ? freed : note_overflow(block.bytes, offset);
}

HeapFault HeapGuards::check(const LpHeap& heap, const void* address) noexcept {
    std::span<std::byte> chunk;
    Found block;
    return locate(heap, address, chunk, block);
}

std::size_t HeapGuards::usable_size(const void* address) noexcept {
    return read_head(static_cast<const std::byte*>(address)).bytes;
}

HeapFault HeapGuards::check_all(LpHeap& heap) {
    // The damage is still found below, because the guard of the chunk before a broken head has
    // changed.
    if (heap.has_broken_heads()) heap.repair_heads();
    const std::byte* lowest = nullptr;
    Found worst;
    std::size_t offset = 0;
    heap.for_each_chunk([&](std::byte* begin, std::size_t bytes) {
        const std::span chunk(begin, bytes);
        const Found block = find_block(chunk);
        const std::byte* changed = nullptr;
        if (block.data != nullptr) {
            changed = first_change(guard_of(chunk, block));
            if (changed == nullptr) return;
            write_guard(guard_of(chunk, block));
        }
        if (lowest != nullptr && lowest < begin) return;
        lowest = begin;
        worst = block;
        offset = block.data == nullptr ? 0 : static_cast<std::size_t>(changed - block.data);
    });
    if (lowest == nullptr) return HeapFault::none;
    return worst.data == nullptr ? HeapFault::underflow : note_overflow(worst.bytes, offset);
}

}  // namespace nw
