// An event with a value: a Signal that is given once, and what it says. Also what a process has found out, for those
// who wait for it:
//
//     nw::Outcome<double> price{env};        // a member of the LP, or a variable of whoever waits
//     env.start(negotiation(price));         // … price.give(12.5); …
//     pay(co_await price);
#pragma once

#include <optional>
#include <utility>

#include <numawarp/model.hpp>
#include <numawarp/process/environment.hpp>
#include <numawarp/process/signal.hpp>

namespace nw {

// A value of type T that will be given once.
template <class T>
class Outcome {
  public:
    // It has not been given.
    explicit Outcome(Environment& env) noexcept : given_(env) {}

    // Whether it has been given.
    bool is_given() const noexcept { return value_.has_value(); }
    // This is the value; who waits goes on with it. Requires: once only; a breach is a ModelError.
    void give(T value) {
        if (is_given()) throw ModelError("an nw::Outcome is given twice");
        value_.emplace(std::move(value));
        given_.turn_on();
    }
    // The value: what co_await returns, too. Requires: is_given(); a breach is a ModelError.
    const T& value() const {
        if (!is_given()) throw ModelError("value() of an nw::Outcome that is not given yet");
        return *value_;
    }
    // That of its LP.
    Environment& env() const noexcept { return given_.env(); }

  private:
    template <class>
    friend class OutcomeWait;
    Signal given_;
    std::optional<T> value_;
};

// What `co_await outcome` makes.
template <class T>
class OutcomeWait final : public SignalWait {
  public:
    // Happens at once if it has been given.
    explicit OutcomeWait(Outcome<T>& outcome) : SignalWait(outcome.given_), outcome_(outcome) {}
    // What co_await returns: the value, which stays in the Outcome.
    const T& result() const { return outcome_.value(); }

  private:
    Outcome<T>& outcome_;
};

}  // namespace nw
