// SPDX-License-Identifier: Apache-2.0
// Tests functions of libc whose result or state exists once per process. With the interposer, each
// thread has its own result or state, and a handler begins with a new state.
#include <cstring>
#include <thread>

#include "memory/handler/fault_guard.hpp"
#include "memory/image/thread_results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/libc_calls.hpp"

using namespace nw;
using namespace nw::test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_interposed = false;
#else
constexpr bool is_interposed = true;
#endif

// Returns the result of the call on another thread.
std::string on_another_thread(const LibcCall& call, unsigned which) {
    std::string text;
    std::thread([&] { text = call.call(which)(); }).join();
    return text;
}

}  // namespace

TEST_CASE("thread results: a call on another thread does not change a result") {
    if (!is_interposed) return;
    for (const LibcCall& call : calls_with_thread_results()) {
        INFO(call.name);
        const LibcResult mine = call.call(0);
        const std::string before = mine();
        for (unsigned which : {1u, 2u, 3u}) static_cast<void>(on_another_thread(call, which));
        CHECK(mine() == before);
    }
}

TEST_CASE("thread results: a state continues after a call on another thread") {
    if (!is_interposed) return;
    for (const LibcCall& call : calls_with_thread_states()) {
        INFO(call.name);
        const std::string expected = on_another_thread(call, 0);
        const LibcResult mine = call.call(0);
        std::thread([&] { static_cast<void>(call.call(1)); }).join();
        CHECK(mine() == expected);
    }
}

TEST_CASE("thread results: a handler begins with a new state") {
    if (!is_interposed) return;
    FaultGuard guard;
    guard.adopt_thread();
    for (const LibcCall& call : calls_with_thread_states()) {
        if (std::strcmp(call.name, "strtok") == 0) continue;  // see test_interpose_libraries.cpp
        INFO(call.name);
        guard.arm();
        const LibcResult first = call.call(0);
        guard.disarm();
        guard.arm();
        const std::string second = call.call(1)();
        guard.disarm();
        CHECK(second == on_another_thread(call, 1));
    }
}
