// SPDX-License-Identifier: Apache-2.0
// The operands of a co_await: an Awaited, a Signal, an Outcome, the end of a Process, or several of
// them:
//
//     co_await nw::any_of(turn, env.delay(3));     // returns the index of the first: 0 or 1
//     co_await nw::all_of(first, second);
//     co_await nw::all_of(processes);              // a std::vector of processes; also any_of
//     co_await (turn | sold_out);                  // same as any_of; & is all_of
//     if (co_await turn.within(3)) …               // true: in time
//     if (auto cut = co_await nw::interruptible(env.delay(3))) … cut->cause<Failure>()
//
// A condition refers to its operands. Therefore a condition must be awaited in the expression that
// creates the condition.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

#include <numawarp/process/awaited.hpp>
#include <numawarp/process/coroutine.hpp>
#include <numawarp/process/environment.hpp>
#include <numawarp/process/outcome.hpp>
#include <numawarp/process/signal.hpp>
#include <numawarp/process/timers.hpp>

namespace nw {
namespace detail {

// Happens when `missing` of its parts have happened. If some of these parts failed, the condition
// has the failure of the first failed part.
class Condition : public Awaited {
  protected:
    Condition(Environment& env, std::size_t missing) noexcept : Awaited(env), missing_(missing) {}
    ~Condition() = default;

    void add(Awaited& part) {
        part.note_used();
        if (part.happened()) return hear(part);
        part.check_free(&env());
        part.part_of_ = this;
    }
    void remove(Awaited& part) noexcept {
        if (part.part_of_ == this) part.part_of_ = nullptr;
    }
    void fail_with(const Awaited& part) noexcept { failure_ = part.failure_; }

    const Awaited* decided_by_ = nullptr;

  private:
    friend class nw::Awaited;
    void hear(const Awaited& part) noexcept {
        if (missing_ == 0) return;
        if (failure_ == nullptr) fail_with(part);
        if (--missing_ > 0) return;
        decided_by_ = &part;
        happen();
    }
    std::size_t missing_;
};

// The object that a co_await awaits: the operand itself, or an object that waits for the operand.
template <class Operand>
struct Held {
    static_assert(
        std::is_base_of_v<Awaited, Operand>,
        "a process can only await an object that its nw::Environment, an nw::Resource, "
        "nw::Container or nw::Store returns, an nw::Signal, an nw::Outcome or an nw::Process");
    explicit Held(Operand& operand) noexcept : node(operand) {}
    Operand& node;
};
template <>
struct Held<Signal> {
    explicit Held(Signal& signal) : node(signal) {}
    SignalWait node;
};
template <class T>
struct Held<Outcome<T>> {
    explicit Held(Outcome<T>& outcome) : node(outcome) {}
    OutcomeWait<T> node;
};
template <>
struct Held<Process> {
    explicit Held(const Process& process) : node(process) {}
    ProcessEnd node;
};

template <class T>
inline constexpr bool is_outcome = false;
template <class T>
inline constexpr bool is_outcome<Outcome<T>> = true;
template <class T>
concept Awaitable = std::is_base_of_v<Awaited, T> || std::is_same_v<T, Signal> || is_outcome<T> ||
    std::is_same_v<T, Process>;

// The common base of any_of and all_of. The type of an operand that has a name is a reference.
template <class... Operands>
class Several : public Condition {
  public:
    // Not available: at the end of the wait, the operands would not be notified, and would not give
    // back the objects and amounts that they have received.
    template <class Time>
    void within(Time) {
        static_assert(sizeof(Time) == 0,
                      "any_of() and all_of() have no within(); allowed: nw::any_of(nw::all_of(one, "
                      "other), env.delay(time))");
    }

  protected:
    template <class First, class... Others>
    Several(std::size_t missing, First& first, Others&... others)
        : Several(NothingAdded{}, missing, first, others...) {
        std::apply([&](auto&... held) { (add(held.node), ...); }, held_);
    }
    ~Several() {
        std::apply([&](auto&... held) { (remove(held.node), ...); }, held_);
    }

    // Accepts each operand that has happened, if it counts for the condition or has a name. The
    // process can use the result of an accepted operand. The process has no access to the other
    // operands; these operands give back the objects and amounts that they have received.
    template <class Counts>
    void accept_each(Counts&& counts) noexcept {
        Condition::accept();
        std::apply([&](auto&... held) { (accept<Operands>(held.node, counts(held.node)), ...); },
                   held_);
    }

    std::tuple<Held<std::remove_cvref_t<Operands>>...> held_;

  private:
    // Selects a constructor that adds no parts. The other constructor delegates to it and then
    // adds the parts. If a part cannot be added, the destructor removes the parts added before.
    struct NothingAdded {};
    template <class First, class... Others>
    Several(NothingAdded, std::size_t missing, First& first, Others&... others)
        : Condition(first.env(), missing), held_(first, others...) {}

    template <class Operand, class Node>
    static void accept(Node& node, bool counts) noexcept {
        if constexpr (std::is_base_of_v<Condition, Node>)
            node.accept(counts);
        else if (counts || std::is_lvalue_reference_v<Operand>)
            node.accept();
    }
};

}  // namespace detail

// The result of any_of() and |. Happens when the first of its operands happens.
template <class... Operands>
class [[nodiscard]] AnyOf final : public detail::Several<Operands...> {
  public:
    // Requires: the operands live until the co_await is over.
    template <class... Given>
    explicit AnyOf(Given&... given) : detail::Several<Operands...>(1, given...) {}
    // Called when the co_await has returned. `counts`: true if this condition has ended the wait.
    void accept(bool counts = true) noexcept {
        this->accept_each(
            [&](const Awaited& part) { return counts && &part == this->decided_by_; });
    }
    // The result of co_await: the index of the operand that happened first, from 0.
    std::size_t result() const noexcept {
        return std::apply(
            [&](auto&... held) {
                std::size_t number = 0;
                (void)((static_cast<const Awaited*>(&held.node) == this->decided_by_ ||
                        !++number) ||
                       ...);
                return number;
            },
            this->held_);
    }
};

// The result of all_of() and &. Happens when the last of its operands happens.
template <class... Operands>
class [[nodiscard]] AllOf final : public detail::Several<Operands...> {
  public:
    // Requires: the operands live until the co_await is over.
    template <class... Given>
    explicit AllOf(Given&... given) : detail::Several<Operands...>(sizeof...(Operands), given...) {}
    // Called when the co_await has returned. `counts`: true if this condition has ended the wait.
    void accept(bool counts = true) noexcept {
        this->accept_each([&](const Awaited&) { return counts && this->happened(); });
    }
    // The result of co_await: none.
    void result() const noexcept {}
};

// Waits for the first of several operands. co_await returns the index of this operand, from 0.
template <class... Operands>
    requires(detail::Awaitable<std::remove_cvref_t<Operands>>&&...)
auto any_of(Operands&&... operands) {
    (detail::check_has_name<Operands>(), ...);
    return AnyOf<Operands...>(operands...);
}
// Waits for all of several operands.
template <class... Operands>
    requires(detail::Awaitable<std::remove_cvref_t<Operands>>&&...)
auto all_of(Operands&&... operands) {
    (detail::check_has_name<Operands>(), ...);
    return AllOf<Operands...>(operands...);
}

// Equal to any_of(one, other).
template <class One, class Other>
    requires(
        detail::Awaitable<std::remove_cvref_t<One>>&& detail::Awaitable<std::remove_cvref_t<Other>>)
auto operator|(One&& one, Other&& other) {
    return any_of(std::forward<One>(one), std::forward<Other>(other));
}
// Equal to all_of(one, other).
template <class One, class Other>
    requires(
        detail::Awaitable<std::remove_cvref_t<One>>&& detail::Awaitable<std::remove_cvref_t<Other>>)
auto operator&(One&& one, Other&& other) {
    return all_of(std::forward<One>(one), std::forward<Other>(other));
}

// The common base of AnyEndOf and AllEndsOf: waits for processes of a list to end.
class [[nodiscard]] EndsOf : public detail::Condition {
  public:
    ~EndsOf() {
        for (ProcessEnd& end : ends_) remove(end);
    }
    // Called when the co_await has returned.
    void accept(bool = true) noexcept { Condition::accept(); }

  protected:
    // Happens when `missing` of the processes have ended.
    EndsOf(const std::vector<Process>& processes, std::size_t missing)
        : Condition(env_of(processes), missing) {
        for (const Process& process : processes) add(ends_.emplace_back(process));
    }
    std::deque<ProcessEnd> ends_;  // a deque, because its elements must not move

  private:
    static Environment& env_of(const std::vector<Process>& processes) {
        if (processes.empty()) throw ModelError("a process waits for an empty list of processes");
        return processes.front().env();
    }
};

// The result of any_of() for a list of processes.
class [[nodiscard]] AnyEndOf final : public EndsOf {
  public:
    // Requires: the list is not empty; a breach throws ModelError.
    explicit AnyEndOf(const std::vector<Process>& processes) : EndsOf(processes, 1) {}
    // The result of co_await: the index of the process that ended first, from 0. If this process
    // ended with an exception, co_await throws the exception.
    std::size_t result() const noexcept {
        std::size_t number = 0;
        while (&ends_[number] != decided_by_) ++number;
        return number;
    }
};

// The result of all_of() for a list of processes.
class [[nodiscard]] AllEndsOf final : public EndsOf {
  public:
    // Requires: the list is not empty; a breach throws ModelError.
    explicit AllEndsOf(const std::vector<Process>& processes)
        : EndsOf(processes, processes.size()) {}
    // The result of co_await: none. If processes ended with exceptions, co_await waits until all
    // processes have ended, and then throws the first of these exceptions.
    void result() const noexcept {}
};

// Waits until one of these processes ends. co_await returns the index of this process, from 0.
// Requires: the list is not empty; a breach throws ModelError.
inline AnyEndOf any_of(const std::vector<Process>& processes) { return AnyEndOf(processes); }
// Waits for the ends of all these processes. Requires: as for any_of().
inline AllEndsOf all_of(const std::vector<Process>& processes) { return AllEndsOf(processes); }

// The result of Awaited::within().
class [[nodiscard]] Within final : public detail::Condition {
  public:
    // Happens when `awaited` happens, or when `time` is over. `where`: the line of the model, for
    // errors.
    Within(Awaited& awaited, double time, SourceLocation where)
        : Condition(awaited.env(), 1), awaited_(awaited), delay_(awaited.env().delay(time, where)) {
        add(awaited_);
        add(delay_);
    }
    ~Within() { remove(awaited_); }
    // Called when the co_await has returned.
    void accept(bool = true) noexcept {
        awaited_.accept();
        fail_with(awaited_);
    }
    // The result of co_await: true if the object has happened in time. It is also true if the
    // object happens at the instant at which the time is over.
    bool result() const noexcept { return awaited_.happened(); }

  private:
    Awaited& awaited_;
    Delay delay_;
};

inline Within Awaited::within(double time, SourceLocation where) & {
    return Within(*this, time, where);
}

// The result of interruptible().
template <class Operand>
struct Interruptible {
    Operand& operand;  // the awaited operand
};
// A plain co_await throws an interrupt. co_await nw::interruptible(…) returns the interrupt
// instead, as a std::optional. The optional is empty if the operand has happened.
template <class Operand>
    requires detail::Awaitable<std::remove_cvref_t<Operand>>
auto interruptible(Operand&& operand) {
    detail::check_has_name<Operand>();
    return Interruptible<std::remove_cvref_t<Operand>>{operand};
}

// One co_await, with the functions that C++ requires. Not called by models.
template <class Operand, bool returns_interrupt>
class Waiting {
  public:
    // A wait of this process for the operand `given`.
    template <class Given>
    Waiting(detail::ProcessState& process, Given& given) : process_(process), held_(given) {
        awaited().note_used();
    }

    // True if the process continues at once.
    bool await_ready() const {
        if (held_.node.happened()) return true;
        held_.node.check_free(process_.env);
        return process_.interrupts != nullptr;
    }
    // The process waits.
    void await_suspend(std::coroutine_handle<>) noexcept {
        process_.waits_for = &held_.node;
        awaited().process_ = &process_;
    }
    // The process continues, with the result or with an interrupt.
    auto await_resume() {
        process_.waits_for = nullptr;
        awaited().process_ = nullptr;
        if (process_.interrupts == nullptr) [[likely]]
            held_.node.accept();
        // A failure takes precedence over an interrupt at the same instant, because the failure
        // would be lost otherwise. The next co_await receives the interrupt.
        awaited().throw_failure();
        if constexpr (returns_interrupt) {
            return process_.interrupts == nullptr ? std::nullopt : std::optional(take_interrupt());
        } else {
            if (process_.interrupts != nullptr) [[unlikely]]
                throw take_interrupt();
            return held_.node.result();
        }
    }

  private:
    Awaited& awaited() noexcept { return held_.node; }
    Interrupt take_interrupt() noexcept {
        const auto first = std::move(process_.interrupts);
        process_.interrupts = std::move(first->next);
        return std::move(first->interrupt);
    }

    detail::ProcessState& process_;
    detail::Held<Operand> held_;
};

inline void Awaited::check_free(const Environment* env) const {
    if (env_ != env) [[unlikely]]
        throw ModelError("a process waits for an object of another LP; allowed: messages");
    if (process_ != nullptr || part_of_ != nullptr) [[unlikely]]
        throw ModelError(
            "a delay, request, get or put is awaited twice, by two processes or in one condition; "
            "allowed: one object for each wait, or an nw::Signal, an nw::Outcome or the end of a "
            "process");
}

inline void Awaited::happen() noexcept {
    happened_ = true;
    if (part_of_ != nullptr)
        part_of_->hear(*this);
    else if (process_ != nullptr)
        process_->env->make_ready(*process_);
}

}  // namespace nw
