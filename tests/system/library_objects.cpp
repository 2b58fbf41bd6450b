// SPDX-License-Identifier: Apache-2.0
// A model whose states contain objects that point into shared libraries or are hard to serialize:
// streams, regular expressions, memory resources, functions of a library, coroutine frames.
// Handlers put the values that they read through all of these objects into payloads: a pointer to a
// wrong place changes the digest, if it does not end the run.
#include <any>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <memory_resource>
#include <regex>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include <numawarp/model.hpp>

namespace {

using LibraryFunction = double (*)(double);

// A sequence whose position is stored in a coroutine frame in the LP's heap.
class Sequence {
  public:
    struct promise_type {
        std::uint64_t value = 0;
        Sequence get_return_object() { return Sequence(Handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(std::uint64_t next) noexcept {
            value = next;
            return {};
        }
        void return_void() noexcept {}
        void unhandled_exception() { throw; }
    };

    Sequence(Sequence&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Sequence& operator=(Sequence&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Sequence() {
        if (handle_) handle_.destroy();
    }
    std::uint64_t next() {
        handle_.resume();
        return handle_.promise().value;
    }

  private:
    using Handle = std::coroutine_handle<promise_type>;
    explicit Sequence(Handle handle) : handle_(handle) {}
    Handle handle_;
};

Sequence steps(std::string name, std::uint64_t first) {
    for (std::uint64_t i = 1;; ++i) co_yield first += i * name.size();
}

struct Keepsakes {
    Keepsakes(std::uint64_t n, LibraryFunction library_function)
        : pattern("(" + std::to_string(n % 10) + "[0-9]{1,3})|[[:upper:]]+"),
          room(256),
          pool(room.data(), room.size()),
          in_pool(&pool),
          of_library(library_function),
          bound([function = of_library, n, text = std::to_string(n * n)](double x) {
              return function(x + static_cast<double>(n % 17)) + static_cast<double>(text.size());
          }),
          anything(std::make_shared<std::string>("number " + std::to_string(n))),
          error(std::make_error_code(std::errc::timed_out)),
          sequence(steps("step " + std::to_string(n), n)) {
        text.precision(11);
    }

    std::uint64_t use(std::uint64_t n) {
        counts["every " + std::to_string(n % 13)] += n;
        text << n << ' ' << std::hex << n << ' ' << bound(static_cast<double>(n % 1000)) << '\n';
        const std::string written = text.str();
        std::smatch match;
        if (std::regex_search(written, match, pattern)) n += match.length() + match.position();
        in_pool[std::pmr::string("a key that is too long to be short ", &pool) +=
                std::to_string(n % 5).c_str()] += n;
        in_default.push_back(n);
        for (const auto& [key, count] : in_pool) n = n * 31 + count + key.size();
        for (const auto& [key, count] : counts) n = n * 31 + count + key.size();
        n += std::any_cast<std::shared_ptr<std::string>>(anything)->size() + written.size();
        n += error.message().size() + static_cast<std::uint64_t>(of_library(2.0) * 1000);
        return n ^ sequence.next() ^ in_default.front();
    }

    std::map<std::string, std::uint64_t> counts;
    std::ostringstream text;
    std::regex pattern;
    std::vector<std::byte> room;
    std::pmr::monotonic_buffer_resource pool;
    std::pmr::map<std::pmr::string, std::uint64_t> in_pool;
    std::pmr::vector<std::uint64_t> in_default;
    std::function<double(double)> of_library;
    std::function<double(double)> bound;
    std::any anything;
    std::error_code error;
    Sequence sequence;
};

class Process final : public nw::LogicalProcess {
  public:
    Process(nw::LpId self, LibraryFunction function)
        : function_(function),
          first_(std::make_unique<Keepsakes>(index(self), function)),
          word_(index(self)) {}

    void on_start(nw::Context& context) override { context.schedule(context.self(), 1, tick); }

    void on_event(nw::Context& context, const nw::Event& event) override {
        if (!event.bytes().empty()) word_ += event.payload<std::uint64_t>();
        if (!later_ || context.random().chance(0.1))
            later_ = std::make_unique<Keepsakes>(word_ % 1000, function_);
        if (context.random().chance(0.02))
            first_ = std::make_unique<Keepsakes>(word_ % 1000, function_);
        word_ = first_->use(word_ % 1000) ^ later_->use(word_ % 997);
        if (event.type() == word) return;
        const nw::LpId target{static_cast<std::uint32_t>(context.random().below(context.lps()))};
        context.schedule(target, context.random().exponential(1), word, word_);
        context.schedule(context.self(), 1, tick);
    }

  private:
    static constexpr nw::EventType tick = 0, word = 1;

    LibraryFunction function_;
    std::unique_ptr<Keepsakes> first_;  // first set by the constructor
    std::unique_ptr<Keepsakes> later_;  // set by handlers
    std::uint64_t word_;
};

class LibraryObjects final : public nw::Model {
  public:
    LibraryObjects() : Model("library_objects", "states that point into libraries, for tests") {}

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = 24;
        setup.until = 300;
        setup.payload_bytes_max = sizeof(std::uint64_t);
        // This is the address in the library, not the address of the program's PLT entry.
        const auto function = reinterpret_cast<LibraryFunction>(dlsym(RTLD_DEFAULT, "cbrt"));
        setup.process = nw::process<Process>(function);
        return setup;
    }
};

// If the test requests this, prints the input and the arguments of main(). The test checks that no
// action happens twice.
void say_what_was_given(int argc, char** argv) {
    if (std::getenv("LIBRARY_OBJECTS_SAY") == nullptr) return;
    std::string line;
    std::getline(std::cin, line);
    std::cout << "read " << line << ", " << argv[0] << " with " << argc - 1 << " words, mark "
              << (std::getenv("NUMAWARP_FIXED_ADDRESSES") != nullptr) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
    say_what_was_given(argc, argv);
    LibraryObjects model;
    return nw::run(argc, argv, model);
}
