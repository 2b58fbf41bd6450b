// SPDX-License-Identifier: Apache-2.0
// Exceptions that cause a fault while they are thrown, caught, queried or destroyed.
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include <pthread.h>

#include "kind.hpp"

namespace hostile {
namespace {

[[gnu::noinline]] void throw_error() { throw std::runtime_error("thrown where none may be"); }

void throw_in_noexcept(Scene&) {
    []() noexcept { throw_error(); }();
}

struct ThrowsInDestructor {
    ~ThrowsInDestructor() { throw_error(); }
};

void throw_in_destructor(Scene&) {
    const ThrowsInDestructor object;
    hidden(&object);
}

struct MayThrowInDestructor {
    ~MayThrowInDestructor() noexcept(false) { throw_error(); }
};

void throw_while_unwinding(Scene&) {
    const MayThrowInDestructor object;
    hidden(&object);
    throw std::runtime_error("the first of two");
}

void crash_in_catch(Scene&) {
    try {
        throw_error();
    } catch (const std::runtime_error&) {
        crash();
    }
}

void crash_in_nested_catch(Scene&) {
    try {
        throw_error();
    } catch (const std::runtime_error&) {
        try {
            throw 5;
        } catch (int) {
            crash();
        }
    }
}

struct CrashesInDestructor {
    ~CrashesInDestructor() { crash(); }
};

void crash_while_unwinding(Scene&) {
    const CrashesInDestructor object;
    hidden(&object);
    throw_error();
}

[[gnu::noinline]] int descend(volatile int* depth) {
    volatile int here[64] = {};
    *depth = *depth + 1;
    here[*depth % 64] = *depth;
    return *depth > 0 ? descend(depth) + here[0] : 0;
}

struct OverflowsInDestructor {
    ~OverflowsInDestructor() {
        volatile int depth = 0;
        descend(&depth);
    }
};

void overflow_while_unwinding(Scene&) {
    const OverflowsInDestructor object;
    hidden(&object);
    throw_error();
}

template <const char* (*say)()>
struct Speaker : std::exception {
    const char* what() const noexcept override { return say(); }
};

const char* crash_and_say() {
    crash();
    return "never";
}
const char* say_nothing() { return hidden<const char*>(nullptr); }
const char* say_from_nowhere() { return hidden(reinterpret_cast<const char*>(16)); }
const char* say_empty() { return ""; }
const char* throw_and_say() {
    throw_error();
    return "never";
}
const char* never_say() {
    while (always()) {
    }
    return "never";
}
const char* say_lines() { return "first line\nsecond line\r\n\x1b[31mand\ta third\x7f\n"; }
const char* say_bytes() { return "bytes \xff\xfe\xc3( that are no text"; }
const char* say_much() {
    static const std::string text(1 << 20, 'w');
    return text.c_str();
}

template <const char* (*say)()>
void throw_speaker(Scene&) {
    throw Speaker<say>();
}

struct CrashesWhenDestroyed : std::runtime_error {
    CrashesWhenDestroyed() : std::runtime_error("destroyed badly") {}
    CrashesWhenDestroyed(const CrashesWhenDestroyed&) = default;
    ~CrashesWhenDestroyed() override { crash(); }
};

void throw_what_crashes_when_destroyed(Scene&) { throw CrashesWhenDestroyed(); }

struct CannotBeCopied : std::runtime_error {
    CannotBeCopied() : std::runtime_error("the original") {}
    CannotBeCopied(const CannotBeCopied& other) : std::runtime_error(other) {
        throw std::runtime_error("the copy threw");
    }
};

void throw_copy_that_throws(Scene&) {
    const CannotBeCopied error;
    throw error;
}

void catch_copy_that_throws(Scene&) {
    try {
        throw CannotBeCopied();
    } catch (CannotBeCopied error) {
        hidden(&error);
    }
}

void rethrow_nothing(Scene&) { throw; }

void end_in_terminate_handler(Scene&) {
    std::set_terminate([] { std::exit(9); });
    std::terminate();
}

void return_from_terminate_handler(Scene&) {
    std::set_terminate([] {});
    std::terminate();
}

void leave_uncaught_in_thread_exit(Scene&) {
    try {
        pthread_exit(nullptr);
    } catch (...) {
        throw_error();
    }
}

constexpr Kind table[] = {
    {"throw-in-noexcept", "throws in a function that is noexcept", "SIGABRT", throw_in_noexcept,
     talks},
    {"throw-in-destructor", "throws in a destructor", "SIGABRT", throw_in_destructor, talks},
    {"throw-while-unwinding", "throws a second exception while the first unwinds", "SIGABRT",
     throw_while_unwinding, talks},
    {"crash-in-catch", "follows a null pointer while it handles an exception", "SIGSEGV",
     crash_in_catch},
    {"crash-in-nested-catch", "follows a null pointer while it handles two exceptions", "SIGSEGV",
     crash_in_nested_catch},
    {"crash-while-unwinding", "follows a null pointer in a destructor that an exception calls",
     "SIGSEGV", crash_while_unwinding},
    {"overflow-while-unwinding", "runs out of stack in a destructor that an exception calls",
     "SIGSEGV", overflow_while_unwinding},
    {"what-crashes", "throws an exception whose what() follows a null pointer", "",
     throw_speaker<crash_and_say>},
    {"what-is-null", "throws an exception whose what() is null", "", throw_speaker<say_nothing>},
    {"what-is-wild", "throws an exception whose what() is an invalid pointer", "",
     throw_speaker<say_from_nowhere>},
    {"what-is-empty", "throws an exception with an empty message", "without a message",
     throw_speaker<say_empty>},
    {"what-throws", "throws an exception whose what() throws", "", throw_speaker<throw_and_say>,
     talks},
    {"what-never-returns", "throws an exception whose what() never returns", "",
     throw_speaker<never_say>, dear},
    {"what-has-lines", "throws an exception whose message has lines and control characters",
     "first line second line", throw_speaker<say_lines>},
    {"what-is-no-text", "throws an exception whose message is not UTF-8", "that are no text",
     throw_speaker<say_bytes>},
    {"what-is-long", "throws an exception with a message of one MiB", "wwww",
     throw_speaker<say_much>},
    {"exception-crashes-when-destroyed", "throws an exception whose destructor crashes", "",
     throw_what_crashes_when_destroyed},
    {"throw-copy-that-throws", "throws an object whose copy throws", "the copy threw",
     throw_copy_that_throws},
    {"catch-copy-that-throws", "catches by value an object whose copy throws", "SIGABRT",
     catch_copy_that_throws, talks},
    {"rethrow-nothing", "rethrows although no exception is handled", "SIGABRT", rethrow_nothing,
     talks},
    {"terminate-handler-exits", "ends in a terminate handler that calls exit()", "exit",
     end_in_terminate_handler},
    {"terminate-handler-returns", "ends in a terminate handler that returns", "SIGABRT",
     return_from_terminate_handler, talks},
    {"throw-in-thread-exit", "throws while pthread_exit() unwinds", "",
     leave_uncaught_in_thread_exit, talks},
};

}  // namespace

std::span<const Kind> broken_exceptions() { return table; }

}  // namespace hostile
