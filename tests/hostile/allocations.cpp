// SPDX-License-Identifier: Apache-2.0
// Requests for more memory than there is.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "kind.hpp"

namespace hostile {
namespace {

void new_too_much(Scene&) { hidden(new char[hidden(std::size_t{1} << 46)]); }

void malloc_unchecked(Scene&) {
    auto* const block = static_cast<volatile char*>(std::malloc(hidden(std::size_t{1} << 46)));
    block[0] = 1;
}

void calloc_overflow(Scene&) {
    auto* const block = static_cast<volatile char*>(
        std::calloc(hidden(std::size_t{1} << 40), hidden(std::size_t{1} << 40)));
    block[0] = 1;
}

void realloc_too_much(Scene&) {
    auto* block = static_cast<char*>(std::malloc(100));
    block = static_cast<char*>(std::realloc(hidden(block), hidden(std::size_t{1} << 46)));
    hidden(block)[0] = 1;
}

void vector_of_maximum(Scene&) {
    std::vector<char> bytes(hidden(std::numeric_limits<std::size_t>::max()));
    hidden(bytes.data());
}

void resize_by_garbage(Scene&) {
    std::vector<std::uint64_t> words;
    words.resize(hidden(std::size_t{0x0000'0123'4567'89ab}));
    hidden(words.data());
}

void string_too_long(Scene&) {
    const std::string text(hidden(std::size_t{1} << 44), 'x');
    hidden(text.data());
}

void wild_alignment(Scene&) {
    hidden(::operator new (hidden(std::size_t{64}), std::align_val_t{std::size_t{1} << 30}));
}

void negative_size(Scene&) {
    const int length = hidden(-5);
    hidden(new int[static_cast<std::size_t>(length)]);
}

// The blocks are freed when the exception unwinds the stack.
void allocate_for_ever(Scene&) {
    std::vector<std::unique_ptr<char[]>> blocks;
    while (always()) {
        blocks.push_back(std::make_unique<char[]>(1 << 20));
        std::memset(blocks.back().get(), 1, 1 << 20);
    }
}

void allocate_small_for_ever(Scene&) {
    std::list<std::uint64_t> numbers;
    while (always()) numbers.push_back(numbers.size());
}

void allocate_for_ever_and_crash(Scene&) {
    while (always()) {
        auto* const block = static_cast<volatile char*>(std::malloc(100'000));
        for (int i = 0; i < 100'000; i += 4096) block[i] = 1;
    }
}

void keep_much(Scene& scene) {
    auto& blocks = scene.kept<std::vector<std::string>>();
    for (int i = 0; i < 10; ++i) blocks.emplace_back(1 << 20, 'k');
    throw 4;
}

// Without numawarp, a program could continue without the memory. Here the event fails, because the
// allocation might have succeeded with another layout of memory.
template <class Ask>
void cope(Scene& scene, Ask&& ask) {
    scene.kept<int>() = ask() == nullptr ? 1 : 2;
}

void malloc_and_cope(Scene& scene) {
    cope(scene, [] { return std::malloc(hidden(std::size_t{1} << 44)); });
}

void calloc_and_cope(Scene& scene) {
    cope(scene, [] { return std::calloc(hidden(std::size_t{1} << 14), std::size_t{1} << 30); });
}

void realloc_and_cope(Scene& scene) {
    cope(scene,
         [] { return std::realloc(hidden(std::malloc(100)), hidden(std::size_t{1} << 44)); });
}

void align_and_cope(Scene& scene) {
    cope(scene, [] { return std::aligned_alloc(4096, hidden(std::size_t{1} << 44)); });
}

void new_and_cope(Scene& scene) {
    cope(scene, [] { return new (std::nothrow) char[hidden(std::size_t{1} << 44)]; });
}

void new_and_catch(Scene& scene) {
    cope(scene, []() -> char* {
        try {
            return new char[hidden(std::size_t{1} << 44)];
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    });
}

void map_memory(Scene&) {
    void* const pages =
        ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static_cast<volatile char*>(pages)[5] = 1;
    ::munmap(pages, 1 << 20);
}

void set_new_handler(Scene&) {
    std::set_new_handler([] { throw std::bad_alloc(); });
    hidden(new char[hidden(std::size_t{1} << 46)]);
}

constexpr Kind table[] = {
    {"new-too-much", "allocates 64 TiB with new", "out of memory", new_too_much},
    {"malloc-too-much", "allocates 64 TiB with malloc() and does not check the result", "SIGSEGV",
     malloc_unchecked},
    {"calloc-overflow", "allocates with calloc() a size that overflows", "SIGSEGV",
     calloc_overflow},
    {"realloc-too-much", "reallocates to 64 TiB and does not check the result", "SIGSEGV",
     realloc_too_much},
    {"vector-of-maximum", "makes a vector with the largest possible number of elements", "vector",
     vector_of_maximum},
    {"resize-by-garbage", "resizes a vector by a garbage number", "out of memory",
     resize_by_garbage},
    {"string-too-long", "makes a string of 16 TiB", "out of memory", string_too_long},
    {"wild-alignment", "asks for an alignment of a GiB", "out of memory", wild_alignment},
    {"malloc-and-cope", "continues without 16 TiB that malloc() refused", "out of memory",
     malloc_and_cope},
    {"calloc-and-cope", "continues without 16 TiB that calloc() refused", "out of memory",
     calloc_and_cope},
    {"realloc-and-cope", "continues without 16 TiB that realloc() refused", "out of memory",
     realloc_and_cope},
    {"align-and-cope", "continues without 16 TiB that aligned_alloc() refused", "out of memory",
     align_and_cope},
    {"new-and-cope", "continues without 16 TiB that nothrow new refused", "out of memory",
     new_and_cope},
    {"new-and-catch", "catches bad_alloc from an allocation of 16 TiB", "out of memory",
     new_and_catch},
    {"negative-size", "makes an array of a negative number of elements", "", negative_size},
    {"allocate-for-ever", "allocates in a loop until memory ends", "out of memory",
     allocate_for_ever, dear},
    {"allocate-small-for-ever", "appends to a list until memory ends", "out of memory",
     allocate_small_for_ever, dear},
    {"allocate-for-ever-crash", "allocates until memory ends and does not check the results",
     "out of memory", allocate_for_ever_and_crash, dear | keeps_heap},
    {"keep-much", "keeps ten MiB in its state and throws", "not a std::exception", keep_much,
     keeps_heap | dear},
    {"map-memory", "maps new memory", nullptr, map_memory},
    {"new-handler", "installs a new-handler and runs out of memory", "out of memory",
     set_new_handler},
};

}  // namespace

std::span<const Kind> allocations() { return table; }

}  // namespace hostile
