// SPDX-License-Identifier: Apache-2.0
#include "memory/handler/handler_probe.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/support/catch.hpp"

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

}  // namespace
}  // namespace nw
