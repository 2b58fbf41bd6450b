// SPDX-License-Identifier: Apache-2.0
// Tests which words of an LP's heap count as pointers to other memory.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <elf.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "memory/heap/group_memory.hpp"
#include "memory/image/outside_pointers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/new_lp_heap.hpp"

using namespace nw;

namespace {

struct Animal {
    virtual ~Animal() = default;
    virtual int legs() const { return 4; }
};

int of_the_program = 1;
int function_of_the_program() { return of_the_program; }

// A heap in which the test stores words.
class WordHeap {
  public:
    WordHeap() : source_(linux_os(), MemoryMode::numa, 1), group_(source_, GroupId{0}) {}

    LpHeap& heap() { return heap_; }
    std::uint64_t* put(std::uint64_t value, std::size_t chunk_bytes = 64) {
        auto* const words = static_cast<std::uint64_t*>(heap_.allocate_zeroed(chunk_bytes));
        words[1] = value;
        return &words[1];
    }
    std::uint64_t* put(const void* pointer, std::size_t chunk_bytes = 64) {
        return put(reinterpret_cast<std::uint64_t>(pointer), chunk_bytes);
    }

    std::map<std::uint64_t*, PointsTo> found(const AddressMap& map) const {
        std::map<std::uint64_t*, PointsTo> words;
        for_each_outside_pointer(heap_, map, [&](std::uint64_t* word, PointsTo points_to) {
            words.emplace(word, points_to);
        });
        return words;
    }

  private:
    MemorySource source_;
    GroupMemory group_;
    LpHeap& heap_ = test::new_lp_heap(group_);
};

}  // namespace

TEST_CASE(
    "outside pointers: pointers to the program and to stacks and libraries and libc's heap are "
    "found") {
    WordHeap words;
    int on_the_stack = 0;
    const auto of_libc = std::make_unique<int>(3);
    std::map<std::uint64_t*, PointsTo> expected;
    for (const std::size_t chunk_bytes : {64, 3000, 50'000}) {
        expected[words.put(&of_the_program, chunk_bytes)] = PointsTo::program;
        expected[words.put(reinterpret_cast<const void*>(&function_of_the_program), chunk_bytes)] =
            PointsTo::program;
        expected[words.put(&on_the_stack, chunk_bytes)] = PointsTo::other;
        expected[words.put(of_libc.get(), chunk_bytes)] = PointsTo::other;
        expected[words.put(stdout, chunk_bytes)] = PointsTo::other;
    }
    // The object contains a pointer to its table of virtual functions.
    auto* const animal = new (words.heap().allocate(sizeof(Animal))) Animal;
    expected[reinterpret_cast<std::uint64_t*>(animal)] = PointsTo::program;
    CHECK((words.found(AddressMap(linux_os())) == expected));
}

TEST_CASE("outside pointers: numbers and text and pointers into LP heaps are not counted") {
    WordHeap words;
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000},
                                       ~std::uint64_t{0}, std::uint64_t{1} << 63})
        words.put(number);
    for (const double real : {1.0, -1.0, 3.14e-300, 1e300, 0.1}) {
        std::uint64_t word = 0;
        std::memcpy(&word, &real, sizeof word);
        words.put(word);
    }
    std::uint64_t text = 0;
    std::memcpy(&text, "pointer?", sizeof text);
    words.put(text);
    words.put(words.put(text));
    words.put(&words.heap());
    CHECK(words.found(AddressMap(linux_os())).empty());
}

TEST_CASE("outside pointers: leftover bytes of a handler's stack in an object are not counted") {
    WordHeap words;
    int on_the_stack = 0;
    std::uint64_t* const left = words.put(&on_the_stack);
    std::uint64_t* const to_library = words.put(stdout);
    const AddressRange stack = own_stack();
    const auto address = reinterpret_cast<std::uint64_t>(&on_the_stack);
    CHECK(stack.begin < address);
    CHECK(address < stack.end);
    const std::map<std::uint64_t*, PointsTo> both{{left, PointsTo::other},
                                                  {to_library, PointsTo::other}};
    CHECK((words.found(AddressMap(linux_os())) == both));
    const std::map<std::uint64_t*, PointsTo> one{{to_library, PointsTo::other}};
    CHECK((words.found(AddressMap(linux_os(), {{1, 2}, stack})) == one));
}

TEST_CASE(
    "own_stack: the stack is searched once per thread because the search reads all mappings") {
    const AddressRange stack = own_stack();
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_STACK, &limit) == 0);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = (stack.end - stack.begin) / 2;
    REQUIRE(setrlimit(RLIMIT_STACK, &limit) == 0);
    const AddressRange again = own_stack();
    limit.rlim_cur = before;
    REQUIRE(setrlimit(RLIMIT_STACK, &limit) == 0);
    CHECK(again.begin == stack.begin);
    CHECK(again.end == stack.end);
}

TEST_CASE("outside pointers: none are found if the kernel does not report mappings") {
    WordHeap words;
    words.put(&of_the_program);
    words.put(stdout);
    FakeOs os(1, 1);
    CHECK(words.found(AddressMap(os)).size() == 2);
    os.hide_memory();
    CHECK(words.found(AddressMap(os)).empty());
}

TEST_CASE("outside pointers: freed chunks are not searched") {
    WordHeap words;
    std::uint64_t* const small = words.put(&of_the_program);
    std::uint64_t* const large = words.put(&of_the_program, 100'000);
    std::uint64_t* const kept = words.put(&of_the_program);
    REQUIRE(words.heap().free(small - 1) == HeapFault::none);
    REQUIRE(words.heap().free(large - 1) == HeapFault::none);
    const std::map<std::uint64_t*, PointsTo> expected{{kept, PointsTo::program}};
    CHECK((words.found(AddressMap(linux_os())) == expected));
}

TEST_CASE("outside pointers: a program with a fixed address has no shift") {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    Elf64_Ehdr header{};
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    REQUIRE(file);
    if (header.e_type == ET_EXEC) {
        CHECK(AddressMap::program_shift() == 0);
    } else {
        CHECK(AddressMap::program_shift() % page_bytes == 0);
        CHECK(AddressMap::program_shift() + header.e_entry >
              reinterpret_cast<std::uint64_t>(&function_of_the_program) - (1u << 30));
        CHECK(AddressMap::program_shift() > 0);
    }
}

namespace {
// Volatile, because the compiler would remove variables that are never read.
void* volatile variable_of_the_program = nullptr;
thread_local void* volatile variable_of_the_thread = nullptr;
struct alignas(page_bytes) ClosedPage {
    void* volatile variable;
} closed_page = {};

void* opaque(void* p) {
    asm volatile("" : "+r"(p));
    return p;
}
}  // namespace

TEST_CASE(
    "outside pointers: variables that point into the region are found and the region stays "
    "reserved") {
    std::string* text = nullptr;
    {
        MemorySource source(linux_os(), MemoryMode::numa, 4);
        const OutsidePointerScan look(linux_os());
        {
            GroupMemory group(source, GroupId{1});
            LpHeap& heap = test::new_lp_heap(group);
            CHECK(look.found().empty());
            text = new (heap.allocate(sizeof(std::string))) std::string("a text");
            variable_of_the_program = text;
            variable_of_the_thread = text;
            closed_page.variable = text;
            REQUIRE(::mprotect(&closed_page, sizeof closed_page, PROT_NONE) == 0);
            const std::vector<PointersFromOutside> found = look.found();
            FakeOs os(1, 1);
            os.hide_memory();
            CHECK(OutsidePointerScan(os).found().empty());
            REQUIRE(::mprotect(&closed_page, sizeof closed_page, PROT_READ | PROT_WRITE) == 0);
            REQUIRE(found.size() == 1);
            CHECK(found.front().holder == "the program");
            CHECK(found.front().words == 3);
        }
        source.keep_mapped();
    }
    CHECK(Region::is_retired());
    // Frees the text, as a destructor would do after the run. A sanitizer's free() cannot free
    // memory of the region.
    if (!test::sanitized && Region::contains(text)) std::free(opaque(text));
    variable_of_the_program = nullptr;
    variable_of_the_thread = nullptr;
    closed_page.variable = nullptr;
    {
        MemorySource source(linux_os(), MemoryMode::numa, 4);
        CHECK_FALSE(Region::is_retired());
    }
}
