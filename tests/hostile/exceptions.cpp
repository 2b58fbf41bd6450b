// SPDX-License-Identifier: Apache-2.0
// Exceptions that leave a handler, and exceptions that a handler keeps.
#include <csetjmp>
#include <cstdlib>
#include <deque>
#include <exception>
#include <future>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "kind.hpp"

namespace hostile {
namespace {

void throw_runtime_error(Scene&) { throw std::runtime_error("a number is missing"); }

void throw_number(Scene&) { throw 7; }

void throw_null_text(Scene&) { throw static_cast<const char*>(nullptr); }

void throw_string(Scene&) { throw std::string(1000, 'x'); }

struct LargeError : std::runtime_error {
    using std::runtime_error::runtime_error;
    char ballast[1 << 16] = {};
};

void throw_large_object(Scene&) { throw LargeError("an error of 64 KiB"); }

void throw_bad_alloc(Scene&) { throw std::bad_alloc(); }

void throw_system_error(Scene&) {
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory), "a system_error");
}

void throw_nested(unsigned depth) {
    if (depth == 0) throw std::runtime_error("the innermost");
    try {
        throw_nested(depth - 1);
    } catch (...) {
        std::throw_with_nested(std::runtime_error("an error in errors " + std::to_string(depth)));
    }
}

void throw_nested_errors(Scene&) { throw_nested(10); }

int compare_and_throw(const void*, const void*) {
    throw std::runtime_error("thrown through qsort");
}

void throw_through_c(Scene&) {
    int numbers[] = {3, 1, 2};
    std::qsort(numbers, 3, sizeof(int), compare_and_throw);
}

void throw_often(Scene&) {
    for (int i = 0; i < 100; ++i) try {
            throw std::runtime_error(std::string(100, 'y'));
        } catch (const std::runtime_error&) {
        }
}

void swallow_broken_rule(Scene& scene) {
    try {
        scene.context().schedule(scene.context().self(), -1, 0);
    } catch (const std::exception&) {
    }
}

// --- Kept in the state ---------------------------------------------------------------------------

using Errors = std::deque<std::exception_ptr>;

void keep_error(Scene& scene) {
    Errors& errors = scene.kept<Errors>();
    try {
        throw std::runtime_error("error number " + std::to_string(scene.number));
    } catch (...) {
        errors.push_back(std::current_exception());
    }
    errors.push_back(std::make_exception_ptr(scene.number));
    if (errors.size() > 6) errors.pop_front();
}

void drop_errors(Scene& scene) { scene.kept<Errors>().clear(); }

void rethrow_kept(Scene& scene) {
    Errors& errors = scene.kept<Errors>();
    errors.pop_back();
    std::rethrow_exception(errors.back());
}

struct Promises {
    std::promise<std::uint64_t> promise;
    std::future<std::uint64_t> future = promise.get_future();
    std::deque<std::future<std::uint64_t>> kept;
};

void keep_promise(Scene& scene) {
    Promises& all = scene.kept<Promises>();
    if (scene.number % 2 == 0)
        all.promise.set_value(scene.number);
    else
        all.promise.set_exception(std::make_exception_ptr(std::runtime_error("an odd number")));
    all.kept.push_back(std::move(all.future));
    all.promise = {};
    all.future = all.promise.get_future();
    if (all.kept.size() < 4) return;
    try {
        all.kept.front().get();
    } catch (const std::runtime_error&) {
    }
    all.kept.pop_front();
}

void break_promise(Scene& scene) {
    Promises& all = scene.kept<Promises>();
    all.promise = {};
    all.future.get();
}

// --- Jumps ---------------------------------------------------------------------------------------

void jump_within(Scene&) {
    static thread_local std::jmp_buf env;
    if (setjmp(env) == 0) std::longjmp(env, 1);
}

// In a program that is built with _FORTIFY_SOURCE, this function replaces longjmp.
extern "C" [[noreturn]] void __longjmp_chk(std::jmp_buf env, int value);

[[gnu::noinline]] int leave_behind(std::jmp_buf env) {
    volatile char deep[4096] = {};
    hidden(&deep[0]);
    return setjmp(env);
}

// The frame that `env` refers to is by now beyond the end of the stack. The library detects this.
void jump_to_dead_frame(Scene&) {
    std::jmp_buf env;
    if (leave_behind(env) == 0) __longjmp_chk(env, 1);
}

constexpr Kind table[] = {
    {"throw", "throws a std::runtime_error", "a number is missing", throw_runtime_error},
    {"throw-number", "throws an int", "not a std::exception", throw_number},
    {"throw-null-text", "throws a null const char*", "not a std::exception", throw_null_text},
    {"throw-string", "throws a std::string with its text in the LP's heap", "not a std::exception",
     throw_string},
    {"throw-large-object", "throws an object of 64 KiB", "an error of 64 KiB", throw_large_object},
    {"throw-bad-alloc", "throws std::bad_alloc although there is enough memory", "out of memory",
     throw_bad_alloc},
    {"throw-system-error", "throws a std::system_error", "a system_error", throw_system_error},
    {"throw-nested", "throws errors nested ten deep", "an error in errors 10", throw_nested_errors},
    {"throw-through-c", "throws through a function of the C library", "thrown through qsort",
     throw_through_c},
    {"throw-often", "throws and catches a hundred times in one handler", nullptr, throw_often,
     dear},
    {"swallow-broken-rule", "schedules into the past and swallows the error", nullptr,
     swallow_broken_rule},
    {"exception-ptr-kept", "keeps exceptions in the state and rethrows one later",
     "error number 50", rethrow_kept, keeps_heap, Hook::on_event, keep_error},
    {"exception-ptr-dropped", "keeps exceptions in the state and drops them all at once", nullptr,
     drop_errors, keeps_heap, Hook::on_event, keep_error},
    {"promise-broken", "keeps promises and futures in the state and breaks one", "roken promise",
     break_promise, keeps_heap, Hook::on_event, keep_promise},
    {"longjmp-within", "jumps within the handler", nullptr, jump_within},
    {"longjmp-to-dead-frame", "jumps into a function that has returned", "SIGABRT",
     jump_to_dead_frame, talks},
};

}  // namespace

std::span<const Kind> exceptions() { return table; }

}  // namespace hostile
