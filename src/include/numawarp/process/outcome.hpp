// SPDX-License-Identifier: Apache-2.0
// An Outcome is a Signal that is turned on only once, and that then has a value. A process can pass
// its result to other processes in this way:
//
//     nw::Outcome<double> price{env};        // a member of the LP, or a variable of a process
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
    // An outcome whose value was not given yet.
    explicit Outcome(Environment& env) noexcept : given_(env) {}

    // True if the value was given.
    bool is_given() const noexcept { return value_.has_value(); }
    // Gives the value. The processes that wait for the value continue at this instant. Requires:
    // called only once; a breach throws ModelError.
    void give(T value) {
        if (is_given()) throw ModelError("an nw::Outcome is given twice");
        value_.emplace(std::move(value));
        given_.turn_on();
    }
    // The value, which co_await returns, too. Requires: is_given(); a breach throws ModelError.
    const T& value() const {
        if (!is_given()) throw ModelError("value() of an nw::Outcome that is not given yet");
        return *value_;
    }
    // The environment of the owning LP.
    Environment& env() const noexcept { return given_.env(); }

  private:
    template <class>
    friend class OutcomeWait;
    Signal given_;
    std::optional<T> value_;
};

// The wait of one process for an Outcome, made by `co_await outcome`.
template <class T>
class OutcomeWait final : public SignalWait {
  public:
    // Happens at once if the value was given.
    explicit OutcomeWait(Outcome<T>& outcome) : SignalWait(outcome.given_), outcome_(outcome) {}
    // The result of co_await: the value, which stays in the Outcome.
    const T& result() const { return outcome_.value(); }

  private:
    Outcome<T>& outcome_;
};

}  // namespace nw
