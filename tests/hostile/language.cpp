// SPDX-License-Identifier: Apache-2.0
// Parts of the language and its library that keep state implicitly.
#include <coroutine>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "kind.hpp"

namespace hostile {
namespace {

// --- Statics that are initialized at their first use ---------------------------------------------

// Out of order, the fault happens only at the first call. In order, it happens at every call,
// because the static variable is not rolled back.
bool goes_wrong(const Scene& scene) {
    static volatile bool is_first = true;
    const bool was_first = is_first;
    is_first = false;
    return was_first || scene.in_order;
}

void static_crashes(Scene& scene) {
    static const int value = [&scene] {
        if (goes_wrong(scene)) crash();
        return 7;
    }();
    hidden(value);
}

void static_throws(Scene& scene) {
    static const std::string text = [&scene]() -> std::string {
        if (goes_wrong(scene)) throw std::runtime_error("the initializer threw");
        return std::string(100, 's');
    }();
    hidden(text.size());
}

void static_of_memory(Scene&) {
    static const std::vector<std::string> words(10, std::string(100, 'm'));
    hidden(words.size());
}

void static_of_memory_and_crash(Scene&) {
    static const std::vector<std::string> words(10, std::string(100, 'm'));
    for (const std::string& word : words)
        if (word.size() != 100) throw 3;
    crash();
}

std::once_flag crashed_once;

void call_once_crashes(Scene& scene) {
    std::call_once(crashed_once, [&scene] {
        if (goes_wrong(scene)) crash();
    });
}

std::once_flag thrown_once;

void call_once_throws(Scene& scene) {
    std::call_once(thrown_once, [&scene] {
        if (goes_wrong(scene)) throw std::runtime_error("the first call threw");
    });
}

// --- Thread-locals -------------------------------------------------------------------------------

struct Scratch {
    std::vector<std::uint64_t> words;
    ~Scratch() { hidden(words.size()); }
};

void use_scratch(Scene& scene) {
    static thread_local Scratch scratch;
    for (int i = 0; i < 100; ++i) scratch.words.push_back(scene.number);
}

void use_scratch_and_crash(Scene& scene) {
    use_scratch(scene);
    crash();
}

void thread_local_that_throws(Scene&) {
    static thread_local const std::string text = []() -> std::string {
        throw std::runtime_error("the thread's initializer threw");
    }();
    hidden(text.size());
}

// --- Coroutines ----------------------------------------------------------------------------------

// A coroutine that counts. The frame is in the LP's heap.
class Counting {
  public:
    struct promise_type {
        std::uint64_t value = 0;
        Counting get_return_object() {
            return Counting(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(std::uint64_t now) noexcept {
            value = now;
            return {};
        }
        void return_void() noexcept {}
        void unhandled_exception() { throw; }
    };

    Counting() = default;
    explicit Counting(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    Counting(Counting&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Counting& operator=(Counting&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Counting() {
        if (handle_) handle_.destroy();
    }
    std::uint64_t next() {
        handle_.resume();
        return handle_.promise().value;
    }
    std::coroutine_handle<promise_type>& handle() { return handle_; }

  private:
    std::coroutine_handle<promise_type> handle_;
};

Counting count_to(std::uint64_t last) {
    for (std::uint64_t i = 1; i <= last; ++i) co_yield i;
}

Counting count_and_crash() {
    co_yield 1;
    crash();
    co_yield 2;
}

void advance(Scene& scene) {
    Counting& counting = scene.kept<Counting>();
    if (!counting.handle()) counting = count_to(1'000'000);
    if (counting.next() != scene.number) throw std::runtime_error("the coroutine lost count");
}

void destroy_coroutine_and_resume(Scene& scene) {
    auto handle = scene.kept<Counting>().handle();
    scene.kept<Counting>() = Counting();
    hidden(&handle);
    if (!scene.kept<Counting>().handle()) throw std::runtime_error("the coroutine is gone");
}

void crash_in_coroutine(Scene&) {
    Counting counting = count_and_crash();
    counting.next();
    counting.next();
}

void resume_nothing(Scene&) {
    std::coroutine_handle<> nothing;
    hidden(&nothing);
    nothing.resume();
}

// --- Others --------------------------------------------------------------------------------------

struct Base {
    virtual ~Base() = default;
};
struct Derived : Base {};

void bad_cast(Scene&) {
    Base base;
    hidden(&dynamic_cast<Derived&>(*hidden(&base)));
}

void type_of_null(Scene&) { hidden(typeid(*hidden<Base*>(nullptr)).name()); }

struct Self : std::enable_shared_from_this<Self> {};

void nobodys_self(Scene&) {
    Self self;
    hidden(self.shared_from_this().get());
}

void change_default_resource(Scene&) {
    std::pmr::monotonic_buffer_resource resource;
    std::pmr::set_default_resource(&resource);
    {
        std::pmr::vector<int> numbers(100);
        hidden(numbers.data());
    }
    std::pmr::set_default_resource(nullptr);
}

struct Pool {
    std::pmr::unsynchronized_pool_resource resource;
    std::pmr::vector<std::pmr::string> words{&resource};
};

void fill_pool(Scene& scene) {
    Pool& pool = scene.kept<Pool>();
    pool.words.emplace_back("word number " + std::to_string(scene.number) + " of the pool");
    if (pool.words.size() > 20) pool.words.erase(pool.words.begin());
}

void release_pool_and_use(Scene& scene) {
    Pool& pool = scene.kept<Pool>();
    fill_pool(scene);
    pool.words.clear();
    crash();
}

struct Stream {
    std::ostringstream text;
};

void write_to_stream(Scene& scene) {
    scene.kept<Stream>().text << scene.number << ' ' << 0.5 * static_cast<double>(scene.number);
}

void break_stream(Scene& scene) {
    std::ostringstream& text = scene.kept<Stream>().text;
    text.exceptions(std::ios::badbit);
    text.setstate(std::ios::badbit);
}

constexpr Kind table[] = {
    {"static-crashes", "crashes in the initializer of a function's static", "SIGSEGV",
     static_crashes},
    {"static-throws", "throws in the initializer of a function's static", "the initializer threw",
     static_throws},
    {"static-of-memory", "initializes a static that owns memory", nullptr, static_of_memory},
    {"static-of-memory-crash", "initializes a static that owns memory, and crashes", "SIGSEGV",
     static_of_memory_and_crash},
    // After the crash, the flag still marks a call in progress: the next caller waits, and is
    // interrupted.
    {"call-once-crashes", "crashes in std::call_once", "SIGSEGV", call_once_crashes,
     dear | only_out_of_order},
    {"call-once-throws", "throws in std::call_once", "the first call threw", call_once_throws},
    {"thread-local-scratch", "keeps the LP's memory in a thread-local", "", use_scratch,
     leaves_behind},
    {"thread-local-scratch-crash", "keeps the LP's memory in a thread-local and crashes", "SIGSEGV",
     use_scratch_and_crash},
    {"thread-local-throws", "throws in the initializer of a thread-local",
     "the thread's initializer threw", thread_local_that_throws},
    {"coroutine-destroyed", "resumes a coroutine that it has destroyed", "the coroutine is gone",
     destroy_coroutine_and_resume, keeps_heap, Hook::on_event, advance},
    {"coroutine-crashes", "crashes in a coroutine", "SIGSEGV", crash_in_coroutine},
    {"coroutine-null", "resumes a null coroutine handle", "SIGSEGV", resume_nothing},
    {"bad-cast", "casts a reference to a class that the object does not have", "bad_cast",
     bad_cast},
    {"type-of-null", "reads the type of a null pointer's object", "bad_typeid", type_of_null},
    {"nobodys-self", "requests a shared_ptr to an object on the stack", "bad_weak_ptr",
     nobodys_self},
    {"default-resource", "changes and restores the default memory resource", nullptr,
     change_default_resource},
    {"pool-crash", "keeps a pool and strings in it, and crashes", "SIGSEGV", release_pool_and_use,
     keeps_heap, Hook::on_event, fill_pool},
    {"stream-broken", "makes a stream in its state throw", "basic_ios", break_stream, keeps_heap,
     Hook::on_event, write_to_stream},
};

}  // namespace

std::span<const Kind> language() { return table; }

}  // namespace hostile
