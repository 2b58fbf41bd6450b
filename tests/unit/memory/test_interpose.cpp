// SPDX-License-Identifier: Apache-2.0
// Tests the interposer in this program: the behavior of malloc, new and the C++ runtime in a
// handler.
//
// Under a sanitizer, which replaces malloc, only operator new is interposed. The tests of malloc
// are then empty.
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "memory/handler/heap_scope.hpp"
#include "memory/handler/warm_up.hpp"
#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/new_lp_heap.hpp"

using namespace nw;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool malloc_is_ours = false;
#else
constexpr bool malloc_is_ours = true;
#endif

struct OneLp {
    explicit OneLp(MemoryMode mode = MemoryMode::numa)
        : source(linux_os(), mode, 4), group(source, GroupId{1}), heap(test::new_lp_heap(group)) {
        warm_up();
        take_heap_fault();
    }
    MemorySource source;
    GroupMemory group;
    LpHeap& heap;
};

// Prevents the compiler from pairing and removing calls of malloc and free.
template <class T>
T* opaque(T* p) {
    asm volatile("" : "+r"(p));
    return p;
}

}  // namespace

TEST_CASE("interposer: no LP heap is current while an LP's heap allocates memory") {
    if (!malloc_is_ours) return;
    struct WatchingOs : FakeOs {
        WatchingOs() : FakeOs(1, 1) {}
        Status set_access(void* address, std::size_t bytes, Access access) noexcept override {
            ++(current_heap != nullptr ? calls_inside : calls_outside);
            return FakeOs::set_access(address, bytes, access);
        }
        int calls_inside = 0;
        int calls_outside = 0;
    };
    WatchingOs os;
    MemorySource source(os, MemoryMode::numa, 1);
    GroupMemory group(source, GroupId{0});
    LpHeap& heap = test::new_lp_heap(group);
    warm_up();
    os.calls_outside = 0;
    constexpr std::size_t large = std::size_t{3} << 20;  // more than is open initially
    {
        const HeapScope scope(heap);
        void* first = opaque(std::malloc(large));
        first = opaque(std::realloc(first, 2 * large));
        void* const second = opaque(std::calloc(1, 3 * large));
        void* const third = opaque(std::aligned_alloc(4096, 5 * large));
        void* const fourth = opaque(::operator new(7 * large));
        CHECK(current_heap == &heap);
        for (void* address : {first, second, third, fourth}) std::free(address);
        CHECK(current_heap == &heap);
    }
    CHECK(os.calls_inside == 0);
    CHECK(os.calls_outside >= 5);
}

TEST_CASE("interposer: the malloc family uses the LP's heap in a handler and libc elsewhere") {
    if (!malloc_is_ours) return;
    OneLp lp(GENERATE(MemoryMode::numa, MemoryMode::libc));
    void* outside = opaque(std::malloc(10));
    CHECK_FALSE(is_group_memory(outside));
    std::vector<void*> inside;
    inside.reserve(20);
    void* aligned = nullptr;
    {
        const HeapScope scope(lp.heap);
        inside.push_back(opaque(std::malloc(10)));
        inside.push_back(opaque(std::calloc(3, 100)));
        inside.push_back(opaque(std::realloc(nullptr, 30)));
        inside.push_back(opaque(::reallocarray(nullptr, 3, 30)));
        inside.push_back(opaque(std::aligned_alloc(64, 128)));
        inside.push_back(opaque(::memalign(4096, 100)));
        inside.push_back(opaque(::valloc(100)));
        if (::posix_memalign(&aligned, 256, 1000) == 0) inside.push_back(opaque(aligned));
        inside.push_back(opaque(::strdup("a string from libc")));
        inside.push_back(opaque(new char[1000]));
        inside.push_back(opaque(::operator new (100, std::align_val_t{64})));
    }
    CHECK(inside.size() == 11);
    for (void* p : inside) CHECK(lp.heap.owns(p));
    CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
    CHECK(::malloc_usable_size(inside[0]) >= 10);
    CHECK(::malloc_usable_size(outside) >= 10);
    std::size_t left = 0;
    {
        const HeapScope scope(lp.heap);
        for (void* p : inside) std::free(p);
        left = lp.heap.used_bytes();
        errno = 0;
        CHECK(opaque(std::malloc(std::size_t{1} << 50)) == nullptr);
        CHECK(errno == ENOMEM);
        std::size_t most = SIZE_MAX;
        asm volatile("" : "+r"(most));
        CHECK(::reallocarray(nullptr, most, 2) == nullptr);
    }
    CHECK(left == 0);
    CHECK(take_heap_fault() == HeapFault::none);
    std::free(outside);
    lp.heap.validate();
}

TEST_CASE("interposer: a snapshot restores the containers of a handler") {
    OneLp lp(GENERATE(MemoryMode::numa, MemoryMode::libc));
    struct State {
        std::map<int, std::string> names;
        std::deque<int> queue;
        std::vector<double> values;
        std::list<std::unique_ptr<int>> boxes;
    };
    State* state = nullptr;
    {
        const HeapScope scope(lp.heap);
        state = new State;
        for (int i = 0; i < 100; ++i) {
            state->names[i] = "a name that is too long for the string itself: " + std::to_string(i);
            state->queue.push_back(i);
            state->values.push_back(i);
            state->boxes.push_back(std::make_unique<int>(i));
        }
    }
    CHECK(lp.heap.owns(state));
    Snapshot* const snapshot = lp.heap.take(lp.group.platform());
    for (int again = 0; again < 3; ++again) {
        {
            const HeapScope scope(lp.heap);
            state->names.clear();
            for (int i = 0; i < 1000; ++i) state->queue.pop_front(), state->queue.push_back(-i);
            state->values.resize(100'000, 1.0);
            state->boxes.clear();
            state->names[7] = "other";
        }
        lp.heap.restore(*snapshot);
        lp.heap.validate();
        REQUIRE(state->names.size() == 100);
        CHECK(state->names[42].ends_with(": 42"));
        CHECK(state->queue.back() == 99);
        CHECK(state->values.size() == 100);
        CHECK(state->values.capacity() < 1000);
        CHECK(*state->boxes.back() == 99);
    }
    LpHeap::drop(snapshot, lp.group.platform());
    {
        const HeapScope scope(lp.heap);
        delete state;
    }
    CHECK(lp.heap.used_bytes() == 0);
    CHECK(take_heap_fault() == HeapFault::none);
}

TEST_CASE("interposer: an invalid free in a handler is refused and reported") {
    OneLp lp;
    LpHeap& other = test::new_lp_heap(lp.group);
    int* from_before = new int(5);
    int* of_other = nullptr;
    int* mine = nullptr;
    {
        const HeapScope scope(other);
        of_other = opaque(new int(6));
    }
    const auto fault_of_deleting = [&](int* p) {
        {
            const HeapScope scope(lp.heap);
            delete opaque(p);
        }
        return take_heap_fault();
    };
    CHECK(fault_of_deleting(from_before) == HeapFault::not_from_an_lp);
    CHECK(*from_before == 5);
    CHECK(fault_of_deleting(of_other) == HeapFault::other_lp);
    CHECK(*of_other == 6);
    {
        const HeapScope scope(lp.heap);
        mine = opaque(new int(7));
    }
    CHECK(fault_of_deleting(mine) == HeapFault::none);
    CHECK(fault_of_deleting(mine) == HeapFault::already_free);
    CHECK_THROWS_AS(throw_if_fault(HeapFault::already_free), std::exception);
    if (malloc_is_ours) {
        char* text = static_cast<char*>(std::malloc(100));
        std::strcpy(text, "text from before the run");
        char* copy = nullptr;
        {
            const HeapScope scope(lp.heap);
            copy = static_cast<char*>(std::realloc(opaque(text), 200));
        }
        CHECK(take_heap_fault() == HeapFault::not_from_an_lp);
        CHECK(lp.heap.owns(copy));
        CHECK(std::string(copy) == "text from before the run");
        CHECK(std::string(text) == copy);
        std::free(text);
    }
    delete from_before;
    lp.heap.validate();
}

TEST_CASE("interposer: an exception that leaves its handler is caught and destroyed outside") {
    OneLp lp;
    Snapshot* const before = lp.heap.take(lp.group.platform());
    const std::string words(500, 'w');
    for (int i = 0; i < 3; ++i) {
        bool caught = false;
        try {
            const HeapScope scope(lp.heap);
            throw std::runtime_error(std::string(words.c_str()));
        } catch (const std::exception& e) {
            caught = e.what() == words;
            CHECK(is_group_memory(e.what()));
            if (malloc_is_ours) CHECK(is_group_memory(&e));
        }
        CHECK(caught);
        CHECK(current_heap == nullptr);
        CHECK(lp.heap.equals(*before));  // nothing leaked
        lp.heap.restore(*before);
    }
    LpHeap::drop(before, lp.group.platform());
    CHECK(take_heap_fault() == HeapFault::none);
}

TEST_CASE("interposer: a handler may catch its own exceptions") {
    OneLp lp;
    const std::string words(500, 'w');
    bool right = false;
    {
        const HeapScope scope(lp.heap);
        try {
            throw std::runtime_error(words + words.c_str());
        } catch (const std::runtime_error& e) {
            right = e.what() == words + words;
        }
    }
    CHECK(right);
    CHECK(take_heap_fault() == HeapFault::none);
    CHECK(lp.heap.used_bytes() == 0);
}

TEST_CASE("interposer: a snapshot restores exceptions in the state and their reference counts") {
    if (!malloc_is_ours) return;
    OneLp lp(GENERATE(MemoryMode::numa, MemoryMode::libc));
    const auto what = [](const std::exception_ptr& kept) -> std::string {
        try {
            std::rethrow_exception(kept);
        } catch (const std::exception& e) {
            return e.what();
        }
    };
    struct State {
        std::exception_ptr kept;
        std::vector<std::exception_ptr> copies;
        std::promise<int> promise;
        std::future<int> future = promise.get_future();
    };
    const std::string words(100, 'w');
    State* state = nullptr;
    {
        const HeapScope scope(lp.heap);
        state = new State;
        try {
            try {
                throw std::out_of_range(words.c_str());
            } catch (...) {
                std::throw_with_nested(std::runtime_error("outer"));
            }
        } catch (...) {
            state->kept = std::current_exception();
        }
        state->copies.assign(3, state->kept);
        state->promise.set_exception(std::make_exception_ptr(std::runtime_error("promised")));
    }
    Snapshot* const snapshot = lp.heap.take(lp.group.platform());
    for (int again = 0; again < 5; ++again) {
        {
            const HeapScope scope(lp.heap);
            for (int i = 0; i < again; ++i) state->copies.push_back(state->kept);
            if (again % 2 == 0) {  // destroys the exception with its last reference
                state->copies.clear();
                state->kept = nullptr;
            }
            std::string promised;
            try {
                state->future.get();
            } catch (const std::runtime_error& e) {
                promised = e.what();
            }
            if (promised != "promised") state->kept = nullptr;
        }
        CHECK(take_heap_fault() == HeapFault::none);
        lp.heap.restore(*snapshot);
        REQUIRE(lp.heap.equals(*snapshot));
        const HeapScope scope(lp.heap);
        const bool whole = what(state->kept) == "outer" && what(state->copies.back()) == "outer";
        if (!whole) throw std::logic_error("the exception is not what it was");
    }
    lp.heap.restore(*snapshot);
    LpHeap::drop(snapshot, lp.group.platform());
    {
        const HeapScope scope(lp.heap);
        delete state;
    }
    CHECK(lp.heap.used_bytes() == 0);
    CHECK(take_heap_fault() == HeapFault::none);
}

TEST_CASE("interposer: a vector that is too large throws bad_alloc in its handler") {
    OneLp lp;
    bool failed = false;
    {
        const HeapScope scope(lp.heap);
        try {
            std::vector<double> much(std::size_t{1} << 45);
        } catch (const std::bad_alloc&) {
            failed = true;
        }
    }
    CHECK(failed);
    CHECK(lp.heap.used_bytes() == 0);
}

TEST_CASE(
    "interposer: a function's static survives the rollback of the handler that initialized it") {
    OneLp lp;
    Snapshot* const before = lp.heap.take(lp.group.platform());
    const auto table = []() -> const std::vector<std::string>& {
        static const std::vector<std::string> names(100, std::string(100, 'n'));
        return names;
    };
    {
        const HeapScope scope(lp.heap);
        static_cast<void>(table());
    }
    CHECK(take_heap_fault() == HeapFault::none);
    CHECK_FALSE(libc_frees_excused());
    CHECK(lp.heap.equals(*before));
    CHECK_FALSE(is_group_memory(table().data()));
    CHECK_FALSE(is_group_memory(table()[99].data()));
    LpHeap::drop(before, lp.group.platform());
}

TEST_CASE(
    "interposer: printing and formatting in a handler leave no memory of libc in the LP's heap") {
    OneLp lp;
    Snapshot* const before = lp.heap.take(lp.group.platform());
    for (int i = 0; i < 3; ++i) {
        {
            const HeapScope scope(lp.heap);
            std::ostringstream text;
            text << 3.25 << ' ' << i;
            char line[400];
            std::snprintf(line, sizeof line, "%.300f", 1e-300);
            std::fprintf(stderr, "%s", "");
            std::printf("%s", "");
            static_cast<void>(std::stod("2.5"));
            std::time_t now = 0;
            std::tm out{};
            ::localtime_r(&now, &out);
        }
        CHECK(take_heap_fault() == HeapFault::none);
        CHECK(lp.heap.equals(*before));
        lp.heap.restore(*before);
    }
    LpHeap::drop(before, lp.group.platform());
}

TEST_CASE("interposer: threads use the heaps of their own groups concurrently") {
    const auto mode = GENERATE(MemoryMode::numa, MemoryMode::libc);
    MemorySource source(linux_os(), mode, 4);
    std::vector<std::thread> threads;
    std::atomic<int> done{0};
    for (std::uint32_t g = 0; g < 4; ++g)
        threads.emplace_back([&source, &done, g] {
            warm_up();
            GroupMemory group(source, GroupId{g});
            LpHeap& heap = test::new_lp_heap(group);
            std::map<int, std::string>* names = nullptr;
            {
                const HeapScope scope(heap);
                names = new std::map<int, std::string>;
            }
            for (int i = 0; i < 300; ++i) {
                Snapshot* const snapshot = heap.take(group.platform());
                const auto add = [&] {
                    const HeapScope scope(heap);
                    (*names)[i] = std::string(static_cast<std::size_t>(i * 40), 'x');
                };
                add();
                heap.restore(*snapshot);
                add();
                LpHeap::drop(snapshot, group.platform());
                std::vector<int> platform_memory(100, i);
                if (names->size() != static_cast<std::size_t>(i) + 1) return;
            }
            heap.validate();
            if (take_heap_fault() == HeapFault::none) ++done;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(done == 4);
}
