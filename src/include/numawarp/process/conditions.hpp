// What a co_await takes: an Awaited, a Signal, an Outcome, the end of a Process, or several of them:
//
//     co_await nw::any_of(turn, env.delay(3));     // the number of the one that happened first: 0 or 1
//     co_await nw::all_of(first, second);
//     co_await nw::all_of(processes);              // a std::vector of them; and any_of
//     co_await (turn | sold_out);                  // as any_of; and & as all_of
//     if (co_await turn.within(3)) …               // true: in time
//     if (auto cut = co_await nw::interruptible(env.delay(3))) … cut->cause<Failure>()
//
// Conditions hold their operands by reference, so that they are awaited where they are written.
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

// Happens when so many of its parts have. It fails if the part that decided it has, or one before that.
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

// What stands for the operand of a co_await while it is awaited: itself, or what waits for it.
template <class Operand>
struct Held {
    static_assert(std::is_base_of_v<Awaited, Operand>,
                  "a process awaits what its nw::Environment, an nw::Resource, nw::Container, "
                  "nw::Store or nw::Signal offers, or an nw::Process");
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

// Common to any_of and all_of. Operands are references where they have names.
template <class... Operands>
class Several : public Condition {
  public:
    // Not there: the operands would not learn that the wait is over, and give back what they got.
    template <class Time>
    void within(Time) {
        static_assert(sizeof(Time) == 0,
                      "any_of() and all_of() have no within(); legal: nw::any_of(nw::all_of(one, "
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

    // What has happened, and counts for those who wait, or has a name by which they may ask for it.
    // Nobody can know of the rest, which goes back.
    template <class Counts>
    void accept_each(Counts&& counts) noexcept {
        Condition::accept();
        std::apply([&](auto&... held) { (accept<Operands>(held.node, counts(held.node)), ...); },
                   held_);
    }

    std::tuple<Held<std::remove_cvref_t<Operands>>...> held_;

  private:
    // Its destructor takes parts out again if one cannot be added.
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

// What any_of() and | make: happens with the first of its operands.
template <class... Operands>
class [[nodiscard]] AnyOf final : public detail::Several<Operands...> {
  public:
    // Of operands that live until the co_await is over.
    template <class... Given>
    explicit AnyOf(Given&... given) : detail::Several<Operands...>(1, given...) {}
    // For co_await: it has returned. `counts`: what waits for this goes on because of it.
    void accept(bool counts = true) noexcept {
        this->accept_each(
            [&](const Awaited& part) { return counts && &part == this->decided_by_; });
    }
    // What co_await returns: the number of the one that happened first, from 0.
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

// What all_of() and & make: happens with the last of its operands.
template <class... Operands>
class [[nodiscard]] AllOf final : public detail::Several<Operands...> {
  public:
    // Of operands that live until the co_await is over.
    template <class... Given>
    explicit AllOf(Given&... given) : detail::Several<Operands...>(sizeof...(Operands), given...) {}
    // For co_await: it has returned. `counts`: what waits for this goes on because of it.
    void accept(bool counts = true) noexcept {
        this->accept_each([&](const Awaited&) { return counts && this->happened(); });
    }
    // What co_await returns: nothing.
    void result() const noexcept {}
};

// One of several: co_await says which one happened first, from 0.
template <class... Operands>
    requires(detail::Awaitable<std::remove_cvref_t<Operands>>&&...)
auto any_of(Operands&&... operands) {
    (detail::check_has_name<Operands>(), ...);
    return AnyOf<Operands...>(operands...);
}
// All of several.
template <class... Operands>
    requires(detail::Awaitable<std::remove_cvref_t<Operands>>&&...)
auto all_of(Operands&&... operands) {
    (detail::check_has_name<Operands>(), ...);
    return AllOf<Operands...>(operands...);
}

// As any_of(one, other).
template <class One, class Other>
    requires(
        detail::Awaitable<std::remove_cvref_t<One>>&& detail::Awaitable<std::remove_cvref_t<Other>>)
auto operator|(One&& one, Other&& other) {
    return any_of(std::forward<One>(one), std::forward<Other>(other));
}
// As all_of(one, other).
template <class One, class Other>
    requires(
        detail::Awaitable<std::remove_cvref_t<One>>&& detail::Awaitable<std::remove_cvref_t<Other>>)
auto operator&(One&& one, Other&& other) {
    return all_of(std::forward<One>(one), std::forward<Other>(other));
}

// The ends of as many processes as a list has: of one of them, or of all.
class [[nodiscard]] EndsOf : public detail::Condition {
  public:
    ~EndsOf() {
        for (ProcessEnd& end : ends_) remove(end);
    }
    // For co_await: it has returned. `counts`: what waits for this goes on because of it.
    void accept(bool = true) noexcept { Condition::accept(); }

  protected:
    // Happens when so many of them have ended.
    EndsOf(const std::vector<Process>& processes, std::size_t missing)
        : Condition(env_of(processes), missing) {
        for (const Process& process : processes) add(ends_.emplace_back(process));
    }
    std::deque<ProcessEnd> ends_;  // they do not move

  private:
    static Environment& env_of(const std::vector<Process>& processes) {
        if (processes.empty()) throw ModelError("a process waits for an empty list of processes");
        return processes.front().env();
    }
};

// What any_of() makes of a list of processes.
class [[nodiscard]] AnyEndOf final : public EndsOf {
  public:
    // Requires: the list is not empty; a breach is a ModelError.
    explicit AnyEndOf(const std::vector<Process>& processes) : EndsOf(processes, 1) {}
    // What co_await returns: the number of the one that ended first, from 0. What that one threw is thrown.
    std::size_t result() const noexcept {
        std::size_t number = 0;
        while (&ends_[number] != decided_by_) ++number;
        return number;
    }
};

// What all_of() makes of a list of processes.
class [[nodiscard]] AllEndsOf final : public EndsOf {
  public:
    // Requires: the list is not empty; a breach is a ModelError.
    explicit AllEndsOf(const std::vector<Process>& processes)
        : EndsOf(processes, processes.size()) {}
    // What co_await returns: nothing. What the first of them threw that threw anything is thrown, when all have ended.
    void result() const noexcept {}
};

// The end of one of these processes: co_await says which one, from 0. Requires: the list is not empty; a breach
// is a ModelError.
inline AnyEndOf any_of(const std::vector<Process>& processes) { return AnyEndOf(processes); }
// The ends of all of them. Requires: as for any_of().
inline AllEndsOf all_of(const std::vector<Process>& processes) { return AllEndsOf(processes); }

// What Awaited::within() makes.
class [[nodiscard]] Within final : public detail::Condition {
  public:
    // Happens with `awaited`, or so much later; `where`: the line of the model.
    Within(Awaited& awaited, double time, SourceLocation where)
        : Condition(awaited.env(), 1), awaited_(awaited), delay_(awaited.env().delay(time, where)) {
        add(awaited_);
        add(delay_);
    }
    ~Within() { remove(awaited_); }
    // For co_await: it has returned. `counts`: what waits for this goes on because of it.
    void accept(bool = true) noexcept {
        awaited_.accept();
        fail_with(awaited_);
    }
    // What co_await returns: whether it happened in time, or at the last instant, when the time was over
    // already.
    bool result() const noexcept { return awaited_.happened(); }

  private:
    Awaited& awaited_;
    Delay delay_;
};

inline Within Awaited::within(double time, SourceLocation where) & {
    return Within(*this, time, where);
}

// What interruptible() makes.
template <class Operand>
struct Interruptible {
    Operand& operand;  // what is awaited
};
// co_await nw::interruptible(…) returns an interrupt where a plain co_await would throw it, as a std::optional;
// nothing if what was awaited has happened.
template <class Operand>
    requires detail::Awaitable<std::remove_cvref_t<Operand>>
auto interruptible(Operand&& operand) {
    detail::check_has_name<Operand>();
    return Interruptible<std::remove_cvref_t<Operand>>{operand};
}

// One co_await: what C++ wants of it. Nothing that a model calls.
template <class Operand, bool returns_interrupt>
class Waiting {
  public:
    // Of this process, for what it is given.
    template <class Given>
    Waiting(detail::ProcessState& process, Given& given) : process_(process), held_(given) {
        awaited().note_used();
    }

    // It goes on at once.
    bool await_ready() const {
        if (held_.node.happened()) return true;
        held_.node.check_free(process_.env);
        return process_.interrupts != nullptr;
    }
    // It waits.
    void await_suspend(std::coroutine_handle<>) noexcept {
        process_.waits_for = &held_.node;
        awaited().process_ = &process_;
    }
    // It goes on: with the result, or with an interrupt.
    auto await_resume() {
        process_.waits_for = nullptr;
        awaited().process_ = nullptr;
        if (process_.interrupts == nullptr) [[likely]]
            held_.node.accept();
        // Before an interrupt of the same instant, which the next co_await meets: else nobody would hear of it.
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
        throw ModelError("a process waits for what belongs to another LP; legal: messages");
    if (process_ != nullptr || part_of_ != nullptr) [[unlikely]]
        throw ModelError(
            "two wait for one delay, request, get or put, or it stands twice in a condition; "
            "legal: "
            "one for each, or an nw::Signal, an nw::Outcome or the end of a process");
}

inline void Awaited::happen() noexcept {
    happened_ = true;
    if (part_of_ != nullptr)
        part_of_->hear(*this);
    else if (process_ != nullptr)
        process_->env->make_ready(*process_);
}

}  // namespace nw
