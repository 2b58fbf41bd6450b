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

template <class T>
class Outcome {
  public:
    explicit Outcome(Environment& env) noexcept : given_(env) {}

    bool is_given() const noexcept { return value_.has_value(); }
    // Requires: once only; a breach is a ModelError.
    void give(T value) {
        if (is_given()) throw ModelError("an nw::Outcome is given twice");
        value_.emplace(std::move(value));
        given_.turn_on();
    }
    // Requires: is_given(). What co_await returns, too.
    const T& value() const noexcept { return *value_; }
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
    explicit OutcomeWait(Outcome<T>& outcome) : SignalWait(outcome.given_), outcome_(outcome) {}
    const T& result() const noexcept { return outcome_.value(); }

  private:
    Outcome<T>& outcome_;
};

}  // namespace nw
