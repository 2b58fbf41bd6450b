// SPDX-License-Identifier: Apache-2.0
// Threads take the turns of workers. Each worker has one thread at a time, with any rules and at
// any change of the rules. An exception in a turn is thrown in the thread that took the turn.
#include "engine/turn_loop.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"

namespace nw {
namespace {

// Counts its turns in a plain integer, so ThreadSanitizer reports two threads that take turns at
// the same time.
class CountingWorker {
  public:
    struct Executor {
        void join_thread() noexcept { thread = std::this_thread::get_id(); }
        void leave_thread() noexcept { thread = {}; }
        void make_current() noexcept {}
        std::thread::id thread;
    };

    bool turn(std::chrono::steady_clock::time_point, bool is_carried = false) {
        is_on_wrong_thread |= executor_.thread != std::this_thread::get_id();
        ++(is_carried ? carried : own);
        has_orders = is_carried && carried % 1024 == 0;
        if (own + carried >= turns_wanted && carried >= carried_wanted &&
            (guest == nullptr || guest->is_over))
            is_over = true;
        if (own + carried == throws_at) throw std::runtime_error("the turn");
        return (own + carried) % 3 != 0;
    }
    bool may_sleep() const noexcept { return true; }
    VirtualTime horizon() const noexcept { return 0; }
    bool has_work() noexcept { return true; }
    void note_slept() noexcept {}
    bool needs_own_thread() const noexcept { return has_orders; }
    Executor& executor() noexcept { return executor_; }
    Counters& counters() noexcept { return counters_; }

    std::uint64_t turns_wanted = 0;
    std::uint64_t carried_wanted = 0;
    const CountingWorker* guest = nullptr;  // this worker does not end before the guest
    std::uint64_t throws_at = 0;
    std::uint64_t own = 0;
    std::uint64_t carried = 0;
    bool has_orders = false;
    bool is_on_wrong_thread = false;
    std::atomic<bool> is_over{false};

  private:
    Executor executor_;
    Counters counters_;
};

struct ChangingRules {
    bool is_over(std::uint32_t w) const noexcept { return workers[w]->is_over || has_failed; }
    bool shares_cpus() const noexcept { return true; }
    std::uint32_t carrier(std::uint32_t w) const noexcept { return carriers[w]; }

    const std::vector<std::unique_ptr<CountingWorker>>& workers;
    std::array<std::atomic<std::uint32_t>, 4> carriers{};
    std::atomic<bool> has_failed{false};
};

struct Threads {
    Threads() {
        for (std::uint32_t w = 0; w < 4; ++w) {
            workers.push_back(std::make_unique<CountingWorker>());
            rules.carriers[w] = w;
        }
    }

    // Runs a loop on one thread for each worker. `meanwhile` runs on this thread.
    template <class Meanwhile>
    void run(Meanwhile&& meanwhile) {
        std::vector<std::jthread> threads;
        for (std::uint32_t self = 0; self < 4; ++self)
            threads.emplace_back([&, self] {
                workers[self]->executor().join_thread();
                TurnLoop<CountingWorker, ChangingRules> turns(self, workers, carriers, sleepers,
                                                              rules);
                try {
                    turns.run();
                } catch (const std::runtime_error&) {
                    ++exceptions;
                    rules.has_failed = true;
                }
                turns.leave();
            });
        meanwhile();
    }

    std::vector<std::unique_ptr<CountingWorker>> workers;
    ChangingRules rules{workers};
    Carriers carriers{4};
    Sleepers sleepers{carriers};
    std::atomic<int> exceptions{0};
};

TEST_CASE("TurnLoop: one thread takes the turns of two workers") {
    Threads threads;
    const auto wanted = static_cast<std::uint64_t>(test::effort(20'000));
    for (std::uint32_t w = 0; w < 4; ++w) {
        CountingWorker& worker = *threads.workers[w];
        threads.rules.carriers[w] = w / 2 * 2;
        if (w % 2 == 0)
            worker.guest = threads.workers[w + 1].get();
        else
            worker.carried_wanted = wanted;
    }
    threads.run([] {});
    for (std::uint32_t w = 0; w < 4; ++w) {
        INFO("worker " << w);
        CountingWorker& worker = *threads.workers[w];
        CHECK(worker.own > 0);  // guests have own turns because of needs_own_thread()
        CHECK(worker.carried == (w % 2 == 0 ? 0 : wanted));
        CHECK(worker.counters()[Counter::carried_turns] == worker.carried);
        CHECK_FALSE(worker.is_on_wrong_thread);
    }
}

TEST_CASE("TurnLoop: each worker has one thread at a time while the rules change") {
    Threads threads;
    const auto wanted = static_cast<std::uint64_t>(test::effort(200'000));
    for (const auto& worker : threads.workers) worker->turns_wanted = wanted;
    threads.run([&] {
        for (std::uint32_t change = 0; change < 200; ++change) {
            // The worker of a thread that should carry may itself be lent.
            threads.rules.carriers[change % 4] = change * 7 / 4 % 4;
            std::this_thread::sleep_for(std::chrono::microseconds(300));
        }
    });
    for (const auto& worker : threads.workers) {
        CHECK(worker->own + worker->carried >= wanted);
        CHECK_FALSE(worker->is_on_wrong_thread);
    }
}

TEST_CASE("TurnLoop: an exception of a turn ends all loops") {
    Threads threads;
    for (const auto& worker : threads.workers) worker->turns_wanted = UINT64_MAX;
    threads.workers[3]->throws_at = 10'000;
    for (auto& carrier : threads.rules.carriers) carrier = 0;
    threads.run([] {});
    CHECK(threads.exceptions == 1);
    const CountingWorker& failed = *threads.workers[3];
    CHECK(failed.own + failed.carried == 10'000);  // no turn after the exception
    CHECK_FALSE(failed.is_on_wrong_thread);
}

}  // namespace
}  // namespace nw
