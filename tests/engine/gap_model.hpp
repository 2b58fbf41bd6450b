// SPDX-License-Identifier: Apache-2.0
// A model that fails only out of order. Eight LPs count together: at each integer time, one of them
// sends the next number to LP 0 and LP 7. These two LPs check that no number is missing. If the
// events are executed in order, no number is missing. If a worker runs ahead of the others, a
// number is missing in its LP. Then the LP does what a real model does in a state that the model
// was not written for: it throws, divides by zero, or follows a bad pointer.
//
// A plan can also request the fault in order: at one number, or in on_start() or on_end().
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <numawarp/model.hpp>

namespace nw::test {

enum class Fault : std::uint8_t {
    exception,
    thrown_number,
    division,
    null_pointer,
    recursion,
    foreign_delete,
    double_delete,
    delete_and_throw,
    huge_resize,
    schedule_into_past,
    unknown_lp,
    empty_deque,
    breakpoint,
    exit_call,
    crash_in_catch,
    wild_walk,
    open_and_crash,
    bad_payload,
    // The following faults are not in all_faults. test_protection.cpp and test_interruptions.cpp
    // use them.
    shared_write,
    shared_free,
    overflow,
    endless_loop,
    endless_allocation,
    endless_sleep,
};
inline constexpr Fault all_faults[] = {
    Fault::exception,          Fault::thrown_number,    Fault::division,
    Fault::null_pointer,       Fault::recursion,        Fault::foreign_delete,
    Fault::double_delete,      Fault::delete_and_throw, Fault::huge_resize,
    Fault::schedule_into_past, Fault::unknown_lp,       Fault::empty_deque,
    Fault::breakpoint,         Fault::exit_call,        Fault::crash_in_catch,
    Fault::wild_walk,          Fault::open_and_crash,   Fault::bad_payload,
};

inline const char* name_of(Fault fault) {
    switch (fault) {
        case Fault::exception:
            return "exception";
        case Fault::thrown_number:
            return "thrown number";
        case Fault::division:
            return "division by zero";
        case Fault::null_pointer:
            return "null pointer";
        case Fault::recursion:
            return "endless recursion";
        case Fault::foreign_delete:
            return "foreign delete";
        case Fault::double_delete:
            return "double delete";
        case Fault::delete_and_throw:
            return "foreign delete, then an exception";
        case Fault::huge_resize:
            return "huge resize";
        case Fault::schedule_into_past:
            return "schedule into the past";
        case Fault::empty_deque:
            return "a walk that begins at an empty deque";
        case Fault::wild_walk:
            return "a walk through memory";
        case Fault::open_and_crash:
            return "descriptors that are open in a crash";
        case Fault::bad_payload:
            return "a payload that cannot be read";
        case Fault::unknown_lp:
            return "unknown LP";
        case Fault::breakpoint:
            return "breakpoint";
        case Fault::exit_call:
            return "exit()";
        case Fault::crash_in_catch:
            return "crash in a catch block";
        case Fault::endless_loop:
            return "endless loop";
        case Fault::endless_allocation:
            return "endless loop that allocates";
        default:
            return "endless sleep";
    }
}

enum class Hook : std::uint8_t { on_event, on_start, on_end, can_end, on_commit };

struct GapPlan {
    Fault fault = Fault::exception;
    Hook hook = Hook::on_event;
    std::uint64_t fault_at = 0;  // number at which the fault happens in order; 0: none
    bool slow_half = false;      // LPs 0 to 3 are slow: with real threads they fall behind
    int* foreign = nullptr;      // memory that no LP owns
    int* shared = nullptr;       // memory in the arena of setup()
};

// The following two functions contain errors on purpose. Sanitizers must not report these errors.
[[gnu::noinline, gnu::no_sanitize("undefined,address,thread")]] inline int recurse(
    volatile int* depth) {
    volatile int here[64] = {};
    *depth = *depth + 1;
    here[*depth % 64] = *depth;
    return *depth > 0 ? recurse(depth) + here[0] : 0;
}

[[gnu::noinline, gnu::no_sanitize("undefined,address,thread")]] inline void commit_fault(
    const GapPlan& plan, Context* context) {
    volatile int zero = 0;
    volatile int* volatile nowhere = nullptr;
    switch (plan.fault) {
        case Fault::exception:
            throw std::runtime_error("a number is missing");
        case Fault::thrown_number:
            throw 7;
        case Fault::division:
            zero = 7919 / zero;
            return;
        case Fault::null_pointer:
            *nowhere = 1;
            return;
        case Fault::recursion:
            recurse(&zero);
            return;
        case Fault::foreign_delete:
            delete plan.foreign;
            return;
        case Fault::double_delete: {
            auto* number = new int(3);
            int* volatile same = number;
            delete number;
            delete same;
            return;
        }
        case Fault::delete_and_throw:
            delete plan.foreign;
            throw std::runtime_error("and more");
        case Fault::huge_resize: {
            std::vector<char> bytes;
            volatile std::size_t size = std::size_t{1} << 46;
            bytes.resize(size);
            return;
        }
        case Fault::schedule_into_past:
            if (context != nullptr) context->schedule(context->self(), -1, 0);
            return;
        case Fault::bad_payload:
            if (context != nullptr)
                context->schedule_bytes(
                    context->self(), 1, 0,
                    {reinterpret_cast<const std::byte*>(const_cast<const int*>(nowhere)), 4});
            return;
        case Fault::unknown_lp:
            if (context != nullptr) context->schedule(LpId{99}, 1, 0);
            return;
        case Fault::empty_deque: {
            std::deque<std::array<char, 512>> waiting(1);
            waiting.pop_front();
            waiting.pop_front();
            while (!waiting.empty()) waiting.pop_front();
            return;
        }
        case Fault::wild_walk: {
            const volatile char* page = new char[24];
            while (*page != 1 || page != nullptr) page += 4096;
            return;
        }
        case Fault::open_and_crash: {
            std::array<int, 2> ends{};
            if (::open("/dev/null", O_RDONLY) < 0 || ::pipe(ends.data()) != 0) return;
            *nowhere = 1;
            return;
        }
        case Fault::shared_write:
            *const_cast<volatile int*>(plan.shared) = *plan.shared + 1;
            return;
        case Fault::shared_free:
            delete plan.shared;
            return;
        case Fault::overflow: {
            volatile char* volatile block = new char[24];
            volatile std::size_t end = 25;
            block[end] = 1;
            return;
        }
        case Fault::breakpoint:
            std::raise(SIGTRAP);
            return;
        case Fault::exit_call:
            std::exit(7);
        case Fault::crash_in_catch:
            try {
                throw std::runtime_error("caught");
            } catch (const std::runtime_error&) {
                *nowhere = 1;
            }
            return;
        case Fault::endless_loop:
            while (zero == 0) {
            }
            return;
        case Fault::endless_allocation:
            while (zero == 0) delete[] new long[10];
            return;
        case Fault::endless_sleep:
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

class GapProcess final : public LogicalProcess {
  public:
    static constexpr std::uint32_t lps = 8;
    static constexpr VirtualTime lookahead = 0.5;

    GapProcess(LpId self, const GapPlan* plan) : plan_(*plan), self_(index(self)) {}

    void on_start(Context& context) override {
        if (plan_.hook == Hook::on_start && self_ == 7) commit_fault(plan_, &context);
        context.schedule(context.self(), self_ + 1, tick);
    }

    void on_event(Context& context, const Event& event) override {
        if (plan_.slow_half && self_ < lps / 2) dawdle();
        if (event.type() == tick) {
            const auto number = static_cast<std::uint64_t>(context.now());
            context.schedule(LpId{0}, lookahead, count, number);
            context.schedule(LpId{lps - 1}, lookahead, count, number);
            context.schedule(context.self(), lps, tick);
            return;
        }
        if (event.type() == echo) return;
        // Changes that were made before the fault must be undone, too.
        seen_.push_back(event.payload<std::uint64_t>());
        notes_ += std::to_string(seen_.size()) + ' ';
        wrong_ = seen_.back() != seen_.size() || (self_ == 7 && seen_.size() == plan_.fault_at);
        if (wrong_ && plan_.hook == Hook::on_event) commit_fault(plan_, &context);
        // A wrong state changes the digest.
        context.schedule(LpId{(self_ + 3) % lps}, lookahead, echo, notes_.size());
    }

    void on_commit(const Event& event) override {
        if (plan_.hook == Hook::on_commit && event.type() == count && self_ == 7 &&
            event.payload<std::uint64_t>() == plan_.fault_at)
            commit_fault(plan_, nullptr);
    }

    bool can_end() const override {
        if (plan_.hook == Hook::can_end && wrong_) commit_fault(plan_, nullptr);
        return false;
    }

    void on_end(Context& context) override {
        if (plan_.hook == Hook::on_end && self_ == 7) commit_fault(plan_, &context);
    }

  private:
    static constexpr EventType tick = 0, count = 1, echo = 2;

    static void dawdle() {
        std::uint64_t word = 1;
        for (int i = 0; i < 4000; ++i) word = word * 6364136223846793005u + 1442695040888963407u;
        static std::atomic<std::uint64_t> sink;  // so that the compiler keeps the loop
        sink.store(word, std::memory_order_relaxed);
    }

    const GapPlan& plan_;
    std::uint32_t self_;
    bool wrong_ = false;
    std::vector<std::uint64_t> seen_;
    std::string notes_;
};

class GapModel final : public Model {
  public:
    explicit GapModel(GapPlan plan) : Model("gap", "fails when a number is missing"), plan_(plan) {
        plan_.foreign = new int(5);
    }
    ~GapModel() override { delete plan_.foreign; }
    GapModel(const GapModel&) = delete;
    GapModel& operator=(const GapModel&) = delete;

    Setup setup() override {
        Setup setup;
        setup.lps = GapProcess::lps;
        setup.until = 400;
        setup.lookahead = GapProcess::lookahead;
        setup.payload_bytes_max = 8;
        setup.process = process<GapProcess>(const_cast<const GapPlan*>(&plan_));
        setup.process.has_end_condition = plan_.hook == Hook::can_end;
        setup.process.has_commit = plan_.hook == Hook::on_commit;
        return setup;
    }

  private:
    GapPlan plan_;
};

}  // namespace nw::test
