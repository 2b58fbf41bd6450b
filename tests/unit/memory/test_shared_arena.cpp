// SPDX-License-Identifier: Apache-2.0
// Tests the memory of setup() in this program: which allocations are in the arena, and that the
// arena cannot be written while it is read-only.
#include "memory/region/shared_arena.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "memory/handler/heap_scope.hpp"
#include "memory/handler/warm_up.hpp"
#include "memory/heap/group_memory.hpp"
#include "memory/region/bad_address.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/new_lp_heap.hpp"
#include "tests/support/random_cases.hpp"

using namespace nw;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool malloc_is_ours = false;
#else
constexpr bool malloc_is_ours = true;
#endif

template <class T>
T* opaque(T* p) {
    asm volatile("" : "+r"(p));
    return p;
}

// Queries the kernel: read() fails with EFAULT if the process may not write to the address.
bool is_writable(void* address) {
    static const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    std::array<char, 8> before{};
    std::memcpy(before.data(), address, before.size());
    if (::read(zeros, address, before.size()) != static_cast<ssize_t>(before.size())) {
        REQUIRE(errno == EFAULT);
        return false;
    }
    std::memcpy(address, before.data(), before.size());
    return true;
}

}  // namespace

TEST_CASE("SharedArena: exactly the allocations of setup() are in the arena") {
    if (!malloc_is_ours) return;
    void* const before = opaque(std::malloc(100));
    std::vector<void*> during;
    void* of_libc = nullptr;
    static const int* of_static = nullptr;
    during.reserve(20);
    {
        const SharedArena::Filling filling(linux_os());
        during = {opaque(std::malloc(100)),
                  opaque(std::calloc(10, 10)),
                  opaque(std::realloc(nullptr, 100)),
                  opaque(std::aligned_alloc(4096, 4096)),
                  opaque(::operator new(100)),
                  opaque(::operator new (100, std::align_val_t{256})),
                  opaque(std::malloc(std::size_t{20} << 20))};
        of_libc = opaque(::strdup("libc's own"));
        static const std::unique_ptr<int> once(opaque(new int(7)));
        of_static = once.get();
    }
    void* const after = opaque(std::malloc(100));
    CHECK_FALSE(SharedArena::contains(before));
    CHECK_FALSE(SharedArena::contains(after));
    CHECK_FALSE(SharedArena::contains(of_libc));
    CHECK_FALSE(SharedArena::contains(of_static));
    for (void* address : during) {
        CHECK(SharedArena::contains(address));
        CHECK(reinterpret_cast<std::uintptr_t>(address) % 16 == 0);
        CHECK(is_writable(address));
    }
    CHECK(reinterpret_cast<std::uintptr_t>(during[3]) % 4096 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(during[5]) % 256 == 0);
    for (void* address : during) std::free(address);
    for (void* address : {before, of_libc, after}) std::free(address);
    SharedArena::validate();
}

TEST_CASE("SharedArena: threads that setup() starts use the arena and earlier threads do not") {
    if (!malloc_is_ours) return;
    std::atomic<int> step{0};
    void* of_earlier = nullptr;
    std::thread earlier([&] {
        step = 1;
        while (step != 2) std::this_thread::yield();
        of_earlier = opaque(std::malloc(100));
    });
    while (step != 1) std::this_thread::yield();
    std::vector<void*> of_later(4);
    {
        const SharedArena::Filling filling(linux_os());
        step = 2;
        earlier.join();
        std::vector<std::thread> later;
        for (void*& place : of_later)
            later.emplace_back([&place] {
                std::map<int, std::string> work;
                for (int i = 0; i < 1000; ++i) work[i % 50] += std::to_string(i);
                place = opaque(std::malloc(work.size()));
            });
        for (std::thread& thread : later) thread.join();
    }
    CHECK_FALSE(SharedArena::contains(of_earlier));
    for (void* address : of_later) CHECK(SharedArena::contains(address));
    for (void* address : of_later) std::free(address);
    std::free(of_earlier);
    SharedArena::validate();
}

TEST_CASE(
    "SharedArena: the arena cannot be changed while it is read-only, and can be changed later") {
    if (!malloc_is_ours) return;
    std::vector<int>* numbers = nullptr;
    {
        const SharedArena::Filling filling(linux_os());
        numbers = new std::vector<int>(1000, 7);
    }
    {
        SharedArena::ReadOnly read_only;
        CHECK(is_writable(numbers));
        read_only.begin();
        CHECK_FALSE(is_writable(numbers));
        CHECK_FALSE(is_writable(numbers->data()));
        CHECK(numbers->back() == 7);
        char words[300];
        REQUIRE(describe_bad_address(numbers, words, sizeof words));
        CHECK(std::string(words).find("memory that setup() allocated and all LPs share") !=
              std::string::npos);
        // In platform mode, freeing memory of the read-only arena has no effect.
        std::free(opaque(numbers->data()));
        CHECK(numbers->back() == 7);
    }
    CHECK(is_writable(numbers->data()));
    numbers->push_back(8);  // reallocates
    CHECK(numbers->size() == 1001);
    CHECK(numbers->front() == 7);
    delete numbers;
    SharedArena::validate();
}

TEST_CASE("SharedArena: a handler cannot free or reallocate memory of the arena") {
    if (!malloc_is_ours) return;
    MemorySource source(linux_os(), MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(group);
    warm_up();
    int* shared = nullptr;
    {
        const SharedArena::Filling filling(linux_os());
        shared = opaque(new int(5));
    }
    {
        const HeapScope scope(heap);
        delete opaque(shared);
        CHECK(take_heap_fault() == HeapFault::of_setup);
        std::free(opaque(shared));
        CHECK(take_heap_fault() == HeapFault::of_setup);
        auto* const copy = static_cast<int*>(std::realloc(opaque(shared), 100));
        CHECK(take_heap_fault() == HeapFault::of_setup);
        CHECK(heap.owns(copy));
        CHECK(*copy == 5);
    }
    CHECK(*opaque(shared) == 5);
    delete opaque(shared);
}

TEST_CASE("SharedArena: random calls of the malloc family keep the contents of blocks") {
    if (!malloc_is_ours) return;
    for (const std::uint64_t seed : test::test_seeds(5)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        test::Dice dice(seed);
        struct Block {
            unsigned char* address;
            std::size_t bytes;
            unsigned char mark;
        };
        std::vector<Block> blocks;
        blocks.reserve(2000);
        const auto is_whole = [](const Block& block) {
            for (std::size_t i = 0; i < block.bytes; ++i)
                if (block.address[i] != block.mark) return false;
            return true;
        };
        const SharedArena::Filling filling(linux_os());
        for (int step = 0; step < 1500; ++step) {
            const std::size_t bytes = 1 + dice.below(dice.chance(0.02)  ? 1'000'000
                                                     : dice.chance(0.2) ? 20'000
                                                                        : 300);
            const auto mark = static_cast<unsigned char>(1 + step % 255);
            void* got = nullptr;
            if (!blocks.empty() && dice.chance(0.6)) {
                const std::size_t i = dice.below(blocks.size());
                REQUIRE(is_whole(blocks[i]));
                if (dice.chance(0.5)) {
                    got = std::realloc(blocks[i].address, bytes);
                    for (std::size_t k = 0; k < std::min(bytes, blocks[i].bytes); ++k)
                        REQUIRE(static_cast<unsigned char*>(got)[k] == blocks[i].mark);
                } else {
                    std::free(blocks[i].address);
                }
                blocks[i] = blocks.back();
                blocks.pop_back();
            } else if (dice.chance(0.3)) {
                got = std::calloc(bytes, 1);
                for (std::size_t k = 0; k < bytes; ++k)
                    REQUIRE(static_cast<unsigned char*>(got)[k] == 0);
            } else if (dice.chance(0.2)) {
                got = std::aligned_alloc(512, bytes);
                REQUIRE(reinterpret_cast<std::uintptr_t>(got) % 512 == 0);
            } else {
                got = std::malloc(bytes);
            }
            if (got == nullptr) continue;
            REQUIRE(SharedArena::contains(got));
            std::memset(got, mark, bytes);
            blocks.push_back({static_cast<unsigned char*>(got), bytes, mark});
        }
        SharedArena::validate();
        for (const Block& block : blocks) {
            REQUIRE(is_whole(block));
            std::free(block.address);
        }
    }
}

TEST_CASE(
    "describe_bad_address: closed memory of LPs has a description and other memory has none") {
    MemorySource source(linux_os(), MemoryMode::numa, 2);
    char words[300] = "";
    CHECK_FALSE(describe_bad_address(nullptr, words, sizeof words));
    CHECK_FALSE(describe_bad_address(&source, words, sizeof words));
    CHECK(describe_bad_address(source.region()->slot(GroupId{1}).data(), words, sizeof words));
    CHECK(std::string(words).find("not allocated") != std::string::npos);
    char few[8] = "";
    CHECK(describe_bad_address(source.region()->slot(GroupId{0}).data(), few, sizeof few));
    CHECK(std::strlen(few) == 7);
}
