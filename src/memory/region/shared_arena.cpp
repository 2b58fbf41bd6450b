// SPDX-License-Identifier: Apache-2.0
#include "memory/region/shared_arena.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "memory/handler/fault_guard.hpp"
#include "memory/region/bad_address.hpp"
#include "memory/region/size_classes.hpp"
#include "util/check.hpp"
#include "util/locks.hpp"

namespace nw {
namespace {

// Precedes the memory that is handed out.
struct Head {
    std::uint64_t capacity;     // of the chunk, from its beginning
    std::uint32_t data_offset;  // from the chunk's beginning to the memory that is handed out
    std::uint32_t mark;
};
static_assert(sizeof(Head) == chunk_alignment);
constexpr std::uint32_t head_mark = 0x5E7'0B0D;

struct FreeChunk {
    FreeChunk* next;
};

constexpr std::size_t class_count = small_class_count + 4 * 34;
constexpr std::size_t grow_bytes_min = std::size_t{1} << 20;
// Free chunks of at least this size keep only their first page.
constexpr std::size_t discard_bytes_min = std::size_t{128} << 10;

constexpr std::size_t capacity_for(std::size_t bytes) noexcept {
    return bytes <= small_chunk_max ? small_class_bytes(small_class_of(bytes))
                                    : quarter_step_bytes(bytes);
}

// Requires: capacity_for(capacity) == capacity.
constexpr std::size_t class_of(std::size_t capacity) noexcept {
    if (capacity <= small_chunk_max) return small_class_of(capacity);
    const std::size_t last = capacity - 1;
    const unsigned top = static_cast<unsigned>(std::bit_width(last)) - 1;  // ≥ 13
    return small_class_count + (top - 13) * std::size_t{4} + ((last >> (top - 2)) & 3);
}
static_assert(class_of(small_chunk_max) == small_class_count - 1);
static_assert(class_of(quarter_step_bytes(small_chunk_max + 1)) == small_class_count);
static_assert(class_of(quarter_step_bytes(SharedArena::bytes_max)) < class_count);

struct Arena {
    SpinLock lock;
    Os* os = nullptr;  // written by a Filling, while no other thread uses the arena
    std::byte* cursor NW_GUARDED_BY(lock) = reinterpret_cast<std::byte*>(SharedArena::base);
    // [base, end) is mapped.
    std::byte* end NW_GUARDED_BY(lock) = reinterpret_cast<std::byte*>(SharedArena::base);
    std::array<FreeChunk*, class_count> free NW_GUARDED_BY(lock){};
};
constinit Arena* arena_place = nullptr;  // made by the first Filling, never destroyed
alignas(Arena) constinit std::array<std::byte, sizeof(Arena)> arena_bytes{};

Arena& arena() noexcept { return *arena_place; }

// The kernel's numbers of the threads that ran when the present filling began, sorted. These
// threads belong to libraries, and their memory does not belong to setup(). Written before
// filling_.
constinit std::vector<pid_t>* other_threads = nullptr;

std::vector<pid_t> running_threads() {
    std::vector<pid_t> threads;
    std::error_code none;  // without the folder, all threads count as threads of setup()
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", none))
        threads.push_back(
            static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10)));
    std::sort(threads.begin(), threads.end());
    return threads;
}

// Whether this thread belongs to the filling with the number `filling`. Determined at the first
// query during each filling.
struct Membership {
    std::uint32_t filling = 0;
    bool member = false;
};
constinit thread_local Membership membership;

Head* head_of(const void* address) noexcept {
    auto* const head =
        reinterpret_cast<Head*>(reinterpret_cast<std::uintptr_t>(address) - sizeof(Head));
    // A double free() ends the program, as in libc.
    if (head->mark != head_mark) std::abort();
    return head;
}

// Maps more addresses at the end. Returns false if they are in use, or if the kernel refuses.
bool grow(Arena& a, std::size_t bytes) noexcept NW_REQUIRES(a.lock) {
    const auto mapped =
        static_cast<std::size_t>(a.end - reinterpret_cast<const std::byte*>(SharedArena::base));
    // Grows by at least a quarter. So there are few mappings, even if the kernel does not merge
    // them, and little unused space, which matters if the address space is limited.
    const std::size_t wanted =
        (std::max({bytes, grow_bytes_min, mapped / 4}) + huge_page_bytes - 1) / huge_page_bytes *
        huge_page_bytes;
    if (wanted > SharedArena::bytes_max - mapped) return false;
    void* got = nullptr;
    if (a.os->reserve(a.end, wanted, got) != 0) return false;
    if (a.os->set_access(a.end, wanted, Access::write) != 0) {
        a.os->unreserve(a.end, wanted);
        return false;
    }
    a.end += wanted;
    return true;
}

}  // namespace

SharedArena::Filling::Filling(Os& os) {
    FaultGuard::describe_addresses_by(describe_bad_address);
    if (!served_.load(std::memory_order_relaxed)) return;
    NW_CHECK(filling_.load() == 0);
    if (arena_place == nullptr) {
        arena_place = new (arena_bytes.data()) Arena;
        other_threads = new std::vector<pid_t>;
    }
    arena().os = &os;
    *other_threads = running_threads();
    static std::uint32_t fillings = 0;
    membership = {++fillings, true};
    filling_.store(fillings, std::memory_order_release);  // pairs with is_of_setup()
}

SharedArena::Filling::~Filling() { filling_.store(0, std::memory_order_relaxed); }

bool SharedArena::is_of_setup() noexcept {
    const std::uint32_t filling = filling_.load(std::memory_order_acquire);
    if (filling == 0) return false;
    if (membership.filling != filling)
        membership = {
            filling, !std::binary_search(other_threads->begin(), other_threads->end(), ::gettid())};
    return membership.member;
}

void SharedArena::ReadOnly::begin() noexcept {
    if (arena_place == nullptr || read_only_.load(std::memory_order_relaxed)) return;
    const LockGuard guard(arena().lock);
    auto* const begin = reinterpret_cast<std::byte*>(base);
    if (arena().end == begin) return;
    const auto bytes = static_cast<std::size_t>(arena().end - begin);
    begun_ = arena().os->set_access(begin, bytes, Access::read) == 0;
    read_only_.store(begun_, std::memory_order_relaxed);
    if (!begun_) whole_.store(false, std::memory_order_relaxed);
}

void SharedArena::ReadOnly::end() noexcept {
    if (!begun_) return;
    begun_ = false;
    const LockGuard guard(arena().lock);
    auto* const begin = reinterpret_cast<std::byte*>(base);
    const auto bytes = static_cast<std::size_t>(arena().end - begin);
    NW_CHECK(arena().os->set_access(begin, bytes, Access::write) == 0);
    read_only_.store(false, std::memory_order_relaxed);
}

void* SharedArena::allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (bytes > bytes_max || alignment > bytes_max) return nullptr;
    const std::size_t data_offset = std::max(alignment, sizeof(Head));
    const std::size_t capacity = capacity_for(data_offset + bytes);
    Arena& a = arena();
    const LockGuard guard(a.lock);
    // A chunk with an alignment above chunk_alignment begins at a multiple of this alignment, and
    // always comes from the end of the arena.
    std::byte* chunk = nullptr;
    FreeChunk*& free = a.free[class_of(capacity)];
    if (alignment <= chunk_alignment && free != nullptr) {
        chunk = reinterpret_cast<std::byte*>(free);
        free = free->next;
    } else {
        std::byte* const aligned =
            a.cursor + (~reinterpret_cast<std::uintptr_t>(a.cursor) + 1) % data_offset;
        while (aligned + capacity > a.end)
            if (!grow(a, static_cast<std::size_t>(aligned + capacity - a.end))) {
                whole_.store(false, std::memory_order_relaxed);
                return nullptr;
            }
        chunk = aligned;
        a.cursor = aligned + capacity;
        used_bytes_.store(reinterpret_cast<std::uintptr_t>(a.cursor) - base,
                          std::memory_order_relaxed);
    }
    std::byte* const data = chunk + data_offset;
    new (data - sizeof(Head)) Head{capacity, static_cast<std::uint32_t>(data_offset), head_mark};
    return data;
}

void* SharedArena::allocate_zeroed(std::size_t bytes) noexcept {
    const std::size_t used_before = used_bytes();
    void* const data = allocate(bytes, chunk_alignment);
    // Fresh pages are zero, and take no memory until they are written.
    if (data != nullptr && reinterpret_cast<std::uintptr_t>(data) - base < used_before)
        std::memset(data, 0, bytes);
    return data;
}

void SharedArena::free(void* address) noexcept {
    if (is_read_only()) return;
    Head* const head = head_of(address);
    const std::size_t capacity = head->capacity;
    std::byte* const chunk = static_cast<std::byte*>(address) - head->data_offset;
    head->mark = 0;
    Arena& a = arena();
    if (capacity >= discard_bytes_min) {
        const auto begin =
            (reinterpret_cast<std::uintptr_t>(chunk) + sizeof(FreeChunk) + page_bytes - 1) &
            ~(page_bytes - 1);
        const auto end = (reinterpret_cast<std::uintptr_t>(chunk) + capacity) & ~(page_bytes - 1);
        a.os->discard(reinterpret_cast<void*>(begin), end - begin);
    }
    const LockGuard guard(a.lock);
    FreeChunk*& list = a.free[class_of(capacity)];
    list = new (chunk) FreeChunk{list};
}

std::size_t SharedArena::usable_size(const void* address) noexcept {
    const Head* const head = head_of(address);
    return head->capacity - head->data_offset;
}

void SharedArena::validate() {
    if (arena_place == nullptr) return;
    Arena& a = arena();
    const LockGuard guard(a.lock);
    const auto* const begin = reinterpret_cast<const std::byte*>(base);
    NW_CHECK(a.cursor <= a.end);
    NW_CHECK(used_bytes() == static_cast<std::size_t>(a.cursor - begin));
    for (std::size_t c = 0; c < class_count; ++c)
        for (const FreeChunk* chunk = a.free[c]; chunk != nullptr; chunk = chunk->next)
            NW_CHECK(contains(chunk));
}

}  // namespace nw
