// SPDX-License-Identifier: Apache-2.0
// A process: a coroutine that uses co_await to wait for objects of its LP. operator new allocates
// the frame of the coroutine in the LP's heap. A rollback restores the frame: the process waits
// again at its earlier co_await, and its variables have their earlier values.
//
//     nw::Process customer(nw::Environment& env, nw::Resource& counter) {
//         auto turn = counter.request();
//         if (!co_await turn.within(3.0)) co_return;  // out of patience: leaves the queue
//         co_await env.delay(env.random().exponential(12.0));
//     }                                               // leaves the counter
//
// If an exception leaves a process, it is passed to the processes that wait for the end of this
// process. If no process waits, the event has failed.
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <numawarp/context.hpp>
#include <numawarp/event.hpp>
#include <numawarp/event_types.hpp>
#include <numawarp/process/awaited.hpp>

namespace nw {

class ProcessEnd;
class Request;

namespace detail {

// `Operand`: as deduced for Operand&&; a reference if the operand has a name.
template <class Operand>
constexpr void check_has_name() noexcept {
    static_assert(!std::is_same_v<std::remove_const_t<Operand>, Request>,
                  "a request without a name releases its nw::Resource at once; allowed: auto turn "
                  "= desk.request(); co_await turn;");
}

// These functions report a mistake of the running handler: the event of this handler fails. They do
// nothing outside of handlers.
void note_never_started() noexcept;
void note_never_awaited() noexcept;

// Throws a ModelError with the line of the model.
[[noreturn, gnu::cold]] void refuse_wait(const SourceLocation& where, VirtualTime now,
                                         const char* what, double time, const char* allowed);

struct PendingInterrupt {
    Interrupt interrupt;
    std::unique_ptr<PendingInterrupt> next{};
};

// The place that a process has reached, for messages.
struct ProcessPlace {
    SourceLocation process{};  // the coroutine; line 0: no process
    // The line of the last co_await, in the coroutine's file; 0: there was no co_await.
    unsigned awaited_line = 0;
    const std::string_view* awaited = nullptr;  // the type of the awaited operand
};

// The place of the process that runs in this thread. The engine reads it when a handler has failed.
// The reference is valid during one handler, because the next handler may run in another thread.
ProcessPlace& running_place() noexcept;

template <class T>
inline constexpr std::string_view name_of_awaited = type_name<T>();

// The environment's data about a process; the base of the coroutine's promise.
struct ProcessState {
    explicit ProcessState(SourceLocation coroutine) noexcept : place{.process = coroutine} {}

    std::coroutine_handle<> frame;
    Environment* env = nullptr;    // null: not started
    Awaited* waits_for = nullptr;  // null: running, not yet begun, or ended
    ProcessState* next_ready = nullptr;
    std::unique_ptr<PendingInterrupt> interrupts{};
    std::exception_ptr failure{};
    Queue<ProcessEnd> end_awaited{};
    ProcessPlace place;
    // The number of Process objects that refer to the process, plus 1 while the process is alive.
    std::uint32_t handles = 0;
    bool is_ready = false;  // the process is in the environment's list of ready processes
    bool has_ended = false;

    void drop_handle() noexcept {
        if (--handles > 0) return;
        if (env == nullptr && std::uncaught_exceptions() == 0) [[unlikely]]
            note_never_started();
        frame.destroy();
    }
};

// The type T without reference, pointer and const.
template <class T>
using Pointee = std::remove_cv_t<std::remove_pointer_t<std::remove_cvref_t<T>>>;
template <class T>
concept EndsWithHandler = std::is_same_v<Pointee<T>, Context> || std::is_same_v<Pointee<T>, Event>;

// The closure of a lambda with captures. It no longer exists when the process runs.
template <class T>
concept CapturingLambda = requires {
    &T::operator();
}
&&!std::is_empty_v<T>;

template <class...>
inline constexpr bool has_closure = false;
template <class First, class... Others>
inline constexpr bool has_closure<First, Others...> = CapturingLambda<std::remove_cvref_t<First>>;

}  // namespace detail

template <class Operand, bool returns_interrupt>
class Waiting;
template <class Operand>
struct Interruptible;

// A handle to a process. Copies refer to the same process. A started process also lives without
// handles.
class Process {
  public:
    // The promise type that C++ requires of a coroutine. Not called by models.
    struct promise_type : detail::ProcessState {
        using ProcessState::ProcessState;
        // The coroutine begins when the process is started.
        std::suspend_always initial_suspend() const noexcept { return {}; }
        // The frame lives as long as there are handles.
        std::suspend_always final_suspend() const noexcept { return {}; }
        // A process returns no value; an nw::Outcome can pass a value to other processes.
        void return_void() const noexcept {}
        // Stores the exception and does not rethrow it: after a rethrow, g++ 12 would destroy the
        // variables of the frame twice.
        void unhandled_exception() noexcept { failure = std::current_exception(); }

        // Makes the wait of a co_await. The operand lives until the co_await is over, because a
        // temporary operand is in the frame, too.
        template <class Operand>
        auto await_transform(Operand&& operand, SourceLocation where = SourceLocation::current()) {
            static_assert(!(std::is_lvalue_reference_v<Operand> &&
                            std::is_base_of_v<detail::Condition, std::remove_cvref_t<Operand>>),
                          "a condition must be awaited in the expression that creates it: it "
                          "refers to its operands");
            detail::check_has_name<Operand>();
            note_await<std::remove_cvref_t<Operand>>(where);
            return Waiting<std::remove_cvref_t<Operand>, false>(*this, operand);
        }
        // Makes the wait of a co_await of nw::interruptible().
        template <class Operand>
        auto await_transform(Interruptible<Operand>&& wrapped,
                             SourceLocation where = SourceLocation::current()) {
            note_await<Operand>(where);
            return Waiting<Operand, true>(*this, wrapped.operand);
        }

      private:
        template <class Operand>
        void note_await(SourceLocation where) noexcept {
            place.awaited_line = where.line();
            place.awaited = &detail::name_of_awaited<Operand>;
        }
    };

    // The promise of a coroutine. `Arguments`: the types of its arguments. The first of them is the
    // type of the object or closure, if the coroutine is a member function or a lambda.
    template <class... Arguments>
    struct promise_of;

    // A handle to no process.
    Process() noexcept = default;
    // Another handle to the same process.
    Process(const Process& other) noexcept : Process(other.state_) {}
    // Moves the handle. `other` then refers to no process.
    Process(Process&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    // Makes the handle refer to the other process.
    Process& operator=(Process other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~Process() {
        if (state_ != nullptr) state_->drop_handle();
    }

    // True if the process was started and has not ended.
    bool is_alive() const noexcept {
        return state_ != nullptr && state_->env != nullptr && !state_->has_ended;
    }
    // Interrupts the process: its co_await throws nw::Interrupt at this instant. Requires: the
    // process is alive and is not the calling process; a breach throws ModelError.
    void interrupt(std::any cause = {}) const;

    // The environment of the owning LP. Requires: the process was started; a breach throws
    // ModelError.
    Environment& env() const;

    // True if both handles refer to the same process.
    friend bool operator==(const Process&, const Process&) noexcept = default;
    // True if the handle refers to a process.
    explicit operator bool() const noexcept { return state_ != nullptr; }

  private:
    friend class Environment;
    friend class ProcessEnd;
    friend class Request;
    friend class Resource;
    explicit Process(detail::ProcessState& state) noexcept : Process(&state) {}
    explicit Process(detail::ProcessState* state) noexcept : state_(state) {
        if (state_ != nullptr) ++state_->handles;
    }

    detail::ProcessState* state_ = nullptr;
};

// The rules for `Arguments` are checked in a member function: when the class is instantiated, the
// type of a closure is not complete yet.
template <class... Arguments>
struct Process::promise_of final : promise_type {
    // Called at the beginning of the coroutine.
    explicit promise_of(SourceLocation coroutine = SourceLocation::current()) noexcept
        : promise_type(coroutine) {}
    // The handle that the call of the coroutine returns.
    Process get_return_object() noexcept {
        static_assert(!(detail::EndsWithHandler<Arguments> || ...),
                      "a Context or an Event does not outlive its handler: a process must use its "
                      "nw::Environment");
        static_assert(!detail::has_closure<Arguments...>,
                      "the captures of a lambda no longer exist when the process runs: pass them "
                      "as arguments");
        frame = std::coroutine_handle<promise_of>::from_promise(*this);
        return Process(*this);
    }
};

}  // namespace nw

template <class... Arguments>
struct std::coroutine_traits<nw::Process, Arguments...> {
    using promise_type = nw::Process::promise_of<Arguments...>;
};
