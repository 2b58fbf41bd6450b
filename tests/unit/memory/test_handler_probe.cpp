// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/handler_probe.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>

#include "tests/support/catch.hpp"
#include "util/locks.hpp"

namespace nw {
namespace {

[[gnu::noinline, gnu::no_sanitize("undefined,address,thread")]] void follow_null() {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
}

// A probe whose handler may be left at any moment.
class WillingProbe : public HandlerProbe {
  public:
    ~WillingProbe() = default;

  private:
    bool answer(ProbeRequest, FaultGuard& guard) noexcept override {
        guard.note_interruption();
        return true;
    }
    bool is_in_platform_mode() const noexcept override { return false; }
};

bool may_fault() {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGSEGV) == 0;
}

TEST_CASE("HandlerProbe: a handler with a fault and an interruption ends by exactly one of them") {
    constexpr int faults_wanted = 5'000;
    constexpr int interruptions_wanted = 100;
    FaultGuard guard;
    WillingProbe probe;
    std::atomic<bool> adopted{false};
    std::atomic<bool> ended{false};
    volatile int faults = 0;
    volatile int interruptions = 0;
    volatile bool spoiled = false;
    volatile int idle = 0;
    std::thread probed([&] {
        guard.adopt_thread();
        probe.adopt_thread();
        adopted = true;
        while ((faults < faults_wanted || interruptions < interruptions_wanted) && !spoiled) {
            if (sigsetjmp(guard.env(), 0) == 0) {
                guard.arm();
                for (int step = 0; step < 5'000; ++step) idle = step;
                follow_null();
            }
            guard.recover();
            if (guard.was_interrupted())
                interruptions = interruptions + 1;
            else
                faults = faults + 1;
            // If SIGSEGV is still blocked, the next fault would end the program.
            spoiled = !may_fault();
        }
        probe.leave_thread();
        ended = true;
    });
    while (!adopted) std::this_thread::yield();
    while (!ended) {
        probe.request(ProbeRequest::interrupt, probe.running_call());
        std::this_thread::sleep_for(std::chrono::microseconds{1});
    }
    probed.join();
    CHECK_FALSE(spoiled);
}

TEST_CASE("HandlerProbe: several probes of one thread count their own calls") {
    FaultGuard guard;
    WillingProbe one, other;
    const auto call = [&] {
        guard.arm();
        const std::array<std::uint64_t, 2> numbers{one.running_call(), other.running_call()};
        guard.disarm();
        return numbers;
    };
    const auto use = [&](WillingProbe& probe) {
        probe.make_current();
        return call();
    };
    guard.adopt_thread();
    one.adopt_thread();
    CHECK(call() == std::array<std::uint64_t, 2>{1, 0});
    CHECK(call() == std::array<std::uint64_t, 2>{2, 0});
    other.join_thread();
    CHECK(call() == std::array<std::uint64_t, 2>{0, 1});
    CHECK(use(one) == std::array<std::uint64_t, 2>{3, 0});
    CHECK(use(other) == std::array<std::uint64_t, 2>{0, 2});
    one.leave_thread();
    // The numbers of a probe continue in another thread.
    std::thread([&] {
        guard.join_thread();
        one.join_thread();
        CHECK(call() == std::array<std::uint64_t, 2>{4, 0});
        one.leave_thread();
    }).join();
    guard.join_thread();
    CHECK(use(other) == std::array<std::uint64_t, 2>{0, 3});
    CHECK(call() == std::array<std::uint64_t, 2>{0, 4});
    other.leave_thread();
    CHECK(call() == std::array<std::uint64_t, 2>{0, 0});
}

// A request to one probe does not interrupt the call of another probe that has the same number.
TEST_CASE("HandlerProbe: a request to one probe has no effect on another probe of the thread") {
    FaultGuard guard;
    WillingProbe one, other;
    guard.adopt_thread();
    one.adopt_thread();
    other.join_thread();
    // Runs call `number` of `other` until `probe` has got a hundred requests for this number.
    const auto is_interrupted = [&](WillingProbe& probe, std::uint64_t number) {
        std::atomic<bool> runs{false}, is_sent{false};
        std::jthread sender([&] {
            while (!runs) std::this_thread::yield();
            for (int i = 0; i < 100; ++i) {
                probe.request(ProbeRequest::interrupt, number);
                std::this_thread::sleep_for(std::chrono::microseconds(10));
            }
            is_sent = true;
        });
        if (sigsetjmp(guard.env(), 0) == 0) {
            guard.arm();
            runs = true;
            while (!is_sent) spin_pause();
            guard.disarm();
            return false;
        }
        guard.recover();
        return guard.was_interrupted();
    };
    CHECK_FALSE(is_interrupted(one, 1));
    CHECK(is_interrupted(other, 2));
    one.leave_thread();
    other.leave_thread();
}

}  // namespace
}  // namespace nw
