// SPDX-License-Identifier: Apache-2.0
// Delays at handoffs (util/handoff.hpp), drawn from a seed. Real threads are delayed for some time.
// Stepped workers are delayed for some steps, so that every order of their steps can be replayed.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/random_cases.hpp"
#include "util/handoff.hpp"

namespace nw::test {

// The number of delays at each handoff.
class DelayCounts {
  public:
    DelayCounts() = default;
    DelayCounts(const DelayCounts& other) noexcept { add(other); }
    DelayCounts& operator=(const DelayCounts&) = delete;

    void count(Handoff place) noexcept {
        counts_[static_cast<std::size_t>(place)].fetch_add(1, std::memory_order_relaxed);
    }
    std::uint64_t of(Handoff place) const noexcept {
        return counts_[static_cast<std::size_t>(place)].load(std::memory_order_relaxed);
    }
    void add(const DelayCounts& other) noexcept {
        for (std::size_t i = 0; i < handoffs; ++i)
            counts_[i].fetch_add(other.counts_[i].load(std::memory_order_relaxed),
                                 std::memory_order_relaxed);
    }
    std::uint64_t sum() const noexcept {
        std::uint64_t sum = 0;
        for (const auto& count : counts_) sum += count.load(std::memory_order_relaxed);
        return sum;
    }

  private:
    std::array<std::atomic<std::uint64_t>, handoffs> counts_{};
};

// During the lifetime of this object, real threads are delayed at a share of their handoffs: mostly
// they yield their core, sometimes they sleep for up to a millisecond. The kernel still schedules
// the threads: the same seed repeats the draws, but not the order of steps. At most one object
// exists at a time.
class InjectedDelays {
  public:
    InjectedDelays(std::uint64_t seed, double share) : seed_(seed), share_(share) {
        current_ = this;
        ++generation_;
        handoff_hook = share > 0 ? &InjectedDelays::on_handoff : nullptr;
    }
    // Requires: the threads have ended.
    ~InjectedDelays() { handoff_hook = nullptr; }
    InjectedDelays(const InjectedDelays&) = delete;
    InjectedDelays& operator=(const InjectedDelays&) = delete;

    const DelayCounts& counts() const noexcept { return counts_; }

  private:
    static void on_handoff(Handoff place) { current_->delay(place); }

    void delay(Handoff place) {
        thread_local std::uint64_t generation = 0;
        thread_local Dice dice(0);
        if (std::exchange(generation, generation_) != generation_)
            dice = Dice(seed_ + 0x9e3779b97f4a7c15u * ++threads_);
        if (!dice.chance(share_)) return;
        counts_.count(place);
        if (dice.chance(0.6)) return std::this_thread::yield();
        std::this_thread::sleep_for(
            std::chrono::microseconds(dice.below(dice.chance(0.05) ? 1000 : 60)));
    }

    static inline InjectedDelays* current_ = nullptr;
    static inline std::uint64_t generation_ = 0;
    std::uint64_t seed_;
    double share_;
    std::atomic<std::uint64_t> threads_{0};
    DelayCounts counts_;
};

// Simulates several threads on one thread. The work of each simulated thread has its own stack. The
// caller selects the stack that runs next. When work is delayed at a handoff, step() returns to the
// caller, and a later step of the same stack continues the work. All stacks run on the caller's
// thread, because a change of threads takes longer than a turn. At most one object exists at a
// time.
class SteppedStacks {
  public:
    SteppedStacks(std::size_t stacks, std::uint64_t seed, double share)
        : share_(share), dice_(seed), stacks_(stacks) {
        current_ = this;
        handoff_hook = &SteppedStacks::on_handoff;
    }
    ~SteppedStacks() { handoff_hook = nullptr; }
    SteppedStacks(const SteppedStacks&) = delete;
    SteppedStacks& operator=(const SteppedStacks&) = delete;

    // Runs one step of stack i. If no work of this stack is delayed, begins `work`. If work of this
    // stack is delayed, the next steps do nothing, for a number of steps drawn at random. The step
    // after them continues the work. A step that runs work returns when the work is done or
    // delayed. Rethrows an exception of the work.
    void step(std::size_t i, const std::function<void()>& work) {
        Stack& stack = stacks_[i];
        if (stack.steps_delayed > 0) {
            --stack.steps_delayed;
            return;
        }
        if (!stack.work) begin(stack, work);
        resume(stack);
    }

    // True if no work is delayed.
    bool is_idle() const {
        return std::none_of(stacks_.begin(), stacks_.end(),
                            [](const Stack& stack) { return stack.work != nullptr; });
    }
    void finish_steps() {
        is_delaying_ = false;
        for (Stack& stack : stacks_) {
            stack.steps_delayed = 0;
            if (stack.work) resume(stack);
        }
        is_delaying_ = true;
    }

    const DelayCounts& counts() const noexcept { return counts_; }

  private:
    static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

    struct Stack {
        std::unique_ptr<std::byte[]> memory{new std::byte[stack_bytes]};
        ucontext_t context{};
        std::function<void()> work;  // null: no work
        std::exception_ptr failure;
        std::size_t steps_delayed = 0;
    };

    void begin(Stack& stack, const std::function<void()>& work) {
        stack.work = work;
        getcontext(&stack.context);
        stack.context.uc_stack.ss_sp = stack.memory.get();
        stack.context.uc_stack.ss_size = stack_bytes;
        stack.context.uc_link = &caller_;
        makecontext(&stack.context, &SteppedStacks::work_on_current, 0);
    }

    void resume(Stack& stack) {
        running_ = &stack;
        swapcontext(&caller_, &stack.context);
        running_ = nullptr;
        if (stack.failure) std::rethrow_exception(std::exchange(stack.failure, nullptr));
    }

    static void work_on_current() {
        Stack& stack = *current_->running_;
        try {
            stack.work();
        } catch (...) {
            stack.failure = std::current_exception();
        }
        stack.work = nullptr;
    }

    static void on_handoff(Handoff place) { current_->delay(place); }

    void delay(Handoff place) {
        if (!is_delaying_ || delays_left_ == 0 || running_ == nullptr || !dice_.chance(share_))
            return;
        --delays_left_;
        counts_.count(place);
        const std::size_t most[] = {2, 20, 120};
        running_->steps_delayed = dice_.below(most[dice_.below(3)]);
        swapcontext(&running_->context, &caller_);
    }

    static inline SteppedStacks* current_ = nullptr;
    double share_;
    Dice dice_;
    bool is_delaying_ = true;
    // The number of delays is limited. Delays cause rollbacks, and these rollbacks cause further
    // rollbacks. Without the limit, a test would take too long.
    std::size_t delays_left_ = 20'000;
    Stack* running_ = nullptr;
    ucontext_t caller_{};
    std::vector<Stack> stacks_;
    DelayCounts counts_;
};

}  // namespace nw::test
