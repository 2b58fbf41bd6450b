// A process: a coroutine that waits for things in its LP by co_await. Its frame comes from operator new, so
// it lies in the LP's heap, and with a rollback it is back where it was: at the co_await at which it
// waited then, with the values its variables had.
//
//     nw::Process customer(nw::Environment& env, nw::Resource& counter) {
//         auto turn = counter.request();
//         if (!co_await turn.within(3.0)) co_return;  // out of patience: leaves the queue
//         co_await env.delay(env.random().exponential(12.0));
//     }                                               // leaves the counter
//
// What it throws goes to the processes that wait for its end; if there are none, the event has failed.
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

// Operand: as deduced for Operand&&, a reference where the operand has a name.
template <class Operand>
constexpr void check_has_name() noexcept {
    static_assert(!std::is_same_v<std::remove_const_t<Operand>, Request>,
                  "a request without a name releases its nw::Resource at once; legal: auto turn = "
                  "desk.request(); co_await turn;");
}

// Posts that the running handler has done so, for which its event has failed. Nothing where no handler runs.
void note_never_started() noexcept;
void note_never_awaited() noexcept;

// Throws a ModelError that names the line of the model.
[[noreturn, gnu::cold]] void refuse_wait(const SourceLocation& where, VirtualTime now,
                                         const char* what, double time, const char* legal);

struct PendingInterrupt {
    Interrupt interrupt;
    std::unique_ptr<PendingInterrupt> next{};
};

// Where a process stands, for messages.
struct ProcessPlace {
    SourceLocation process{};  // its function is the coroutine; line 0: there is no process
    // The line of its last co_await, in the coroutine's file; 0: there was none.
    unsigned awaited_line = 0;
    const std::string_view* awaited = nullptr;  // the type of what it awaited there
};

// The place of the process that runs in this thread. The engine reads it when a handler has failed.
extern constinit thread_local ProcessPlace running_place;

template <class T>
inline constexpr std::string_view name_of_awaited = type_name<T>();

// What the environment knows of a process; the base of its promise.
struct ProcessState {
    explicit ProcessState(SourceLocation coroutine) noexcept : place{.process = coroutine} {}

    std::coroutine_handle<> frame;
    Environment* env = nullptr;    // null: not started
    Awaited* waits_for = nullptr;  // null: it runs, or nothing has begun, or all is over
    ProcessState* next_ready = nullptr;
    std::unique_ptr<PendingInterrupt> interrupts{};
    std::exception_ptr failure{};
    Queue<ProcessEnd> end_awaited{};
    ProcessPlace place;
    std::uint32_t handles = 0;  // and one for the environment, while the process is alive
    bool is_ready = false;      // it is among the environment's ready ones
    bool has_ended = false;

    void drop_handle() noexcept {
        if (--handles > 0) return;
        if (env == nullptr && std::uncaught_exceptions() == 0) [[unlikely]]
            note_never_started();
        frame.destroy();
    }
};

// By value or reference, or what a pointer points at.
template <class T>
using Pointee = std::remove_cv_t<std::remove_pointer_t<std::remove_cvref_t<T>>>;
template <class T>
concept EndsWithHandler = std::is_same_v<Pointee<T>, Context> || std::is_same_v<Pointee<T>, Event>;

// The closure of a lambda with captures, which is gone when the process runs.
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

// A handle to a process: copies stand for the same one. A process that no handle was kept of lives on.
class Process {
  public:
    // What C++ wants of a coroutine; nothing that a model calls.
    struct promise_type : detail::ProcessState {
        using ProcessState::ProcessState;
        // It begins when it is started.
        std::suspend_always initial_suspend() const noexcept { return {}; }
        // Its frame lives as long as there are handles.
        std::suspend_always final_suspend() const noexcept { return {}; }
        // It has no value: nw::Outcome is for that.
        void return_void() const noexcept {}
        // Not thrown on from here: g++ 12 would destroy the variables of the frame twice.
        void unhandled_exception() noexcept { failure = std::current_exception(); }

        // Their operands live until the co_await is over: temporaries, too, are in the frame.
        template <class Operand>
        auto await_transform(Operand&& operand, SourceLocation where = SourceLocation::current()) {
            static_assert(
                !(std::is_lvalue_reference_v<Operand> &&
                  std::is_base_of_v<detail::Condition, std::remove_cvref_t<Operand>>),
                "conditions are awaited where they are written: they refer to what stands "
                "there");
            detail::check_has_name<Operand>();
            note_await<std::remove_cvref_t<Operand>>(where);
            return Waiting<std::remove_cvref_t<Operand>, false>(*this, operand);
        }
        // The same for nw::interruptible().
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

    // That of a process that is called with such arguments, the object or closure included.
    template <class... Arguments>
    struct promise_of;

    // A handle to no process.
    Process() noexcept = default;
    // Another handle to the same process.
    Process(const Process& other) noexcept : Process(other.state_) {}
    // Leaves a handle to no process.
    Process(Process&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    // Stands for the other process from now on.
    Process& operator=(Process other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~Process() {
        if (state_ != nullptr) state_->drop_handle();
    }

    // Started, and not at its end.
    bool is_alive() const noexcept {
        return state_ != nullptr && state_->env != nullptr && !state_->has_ended;
    }
    // Its co_await throws nw::Interrupt, at this instant. Requires: it is alive, and not the one that
    // calls this; a breach is a ModelError.
    void interrupt(std::any cause = {}) const;

    // That of its LP. Requires: it was started; a breach is a ModelError.
    Environment& env() const;

    // Whether both stand for one process.
    friend bool operator==(const Process&, const Process&) noexcept = default;
    // Whether it stands for a process.
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

// Not at the class, where a closure is not yet complete.
template <class... Arguments>
struct Process::promise_of final : promise_type {
    // At the begin of the coroutine.
    explicit promise_of(SourceLocation coroutine = SourceLocation::current()) noexcept
        : promise_type(coroutine) {}
    // The handle that the call returns.
    Process get_return_object() noexcept {
        static_assert(!(detail::EndsWithHandler<Arguments> || ...),
                      "a Context or an Event does not outlive its handler: a process uses its "
                      "nw::Environment");
        static_assert(!detail::has_closure<Arguments...>,
                      "what a lambda has captured is gone when the process runs: hand it over as "
                      "arguments");
        frame = std::coroutine_handle<promise_of>::from_promise(*this);
        return Process(*this);
    }
};

}  // namespace nw

template <class... Arguments>
struct std::coroutine_traits<nw::Process, Arguments...> {
    using promise_type = nw::Process::promise_of<Arguments...>;
};
