// SPDX-License-Identifier: Apache-2.0
// Objects that several processes may wait for: a Signal, which the model turns on, and the end of a
// Process.
#pragma once

#include <exception>

#include <numawarp/process/awaited.hpp>
#include <numawarp/process/coroutine.hpp>
#include <numawarp/process/environment.hpp>

namespace nw {

class Signal;

// The wait of one process for a Signal, made by `co_await signal`.
class SignalWait : public Awaited {
  public:
    // Happens at once if the signal is on.
    explicit SignalWait(Signal& signal);
    ~SignalWait() { detail::Queue<SignalWait>::remove(*this); }
    // The result of co_await: none.
    void result() noexcept {}

  private:
    friend class Signal;
};

// `co_await signal` waits until the signal is on. If the signal is already on, the process
// continues at once. Therefore several processes may wait for a Signal that is turned on once, both
// before and after it is turned on.
class Signal {
  public:
    // A signal that is off.
    explicit Signal(Environment& env) noexcept : env_(&env) {}

    // True if the signal is on.
    bool is_on() const noexcept { return is_on_; }
    // Turns the signal on. The waiting processes continue at this instant.
    void turn_on() noexcept {
        is_on_ = true;
        pulse();
    }
    // Turns the signal off, so that processes wait from now on.
    void turn_off() noexcept { is_on_ = false; }
    // Wakes the processes that wait now, as a condition variable does. The signal stays on or off
    // as it was.
    void pulse() noexcept {
        while (!waits_.is_empty()) {
            SignalWait& first = waits_.front();
            detail::Queue<SignalWait>::remove(first);
            first.happen();
        }
    }
    // The environment of the owning LP.
    Environment& env() const noexcept { return *env_; }

  private:
    friend class SignalWait;
    Environment* env_;
    bool is_on_ = false;
    detail::Queue<SignalWait> waits_;
};

// The wait of one process for the end of another process, made by `co_await process`.
class ProcessEnd final : public Awaited {
  public:
    // Requires: the process was started; a breach throws ModelError.
    explicit ProcessEnd(const Process& process);
    ~ProcessEnd() { detail::Queue<ProcessEnd>::remove(*this); }
    // The result of co_await: none. If the process ended with an exception, co_await throws the
    // exception.
    void result() const noexcept {}

  private:
    friend class Environment;
    void happen() noexcept { Awaited::happen(process_.state_->failure); }
    Process process_;
};

// --- Inline --------------------------------------------------------------------------------------

inline SignalWait::SignalWait(Signal& signal) : Awaited(signal.env()) {
    if (signal.is_on())
        happen();
    else
        signal.waits_.push_back(*this);
}

inline ProcessEnd::ProcessEnd(const Process& process) : Awaited(process.env()), process_(process) {
    if (process.state_ == env().running_) throw ModelError("a process waits for its own end");
    if (process.state_->has_ended)
        happen();
    else
        process.state_->end_awaited.push_back(*this);
}

inline Environment& Process::env() const {
    if (state_ == nullptr || state_->env == nullptr)
        throw ModelError("a process waits for the end of a process that was not started");
    return *state_->env;
}

inline void Environment::end(detail::ProcessState& process) {
    process.has_ended = true;
    if (process.failure != nullptr && process.end_awaited.is_empty())
        std::rethrow_exception(process.failure);
    while (!process.end_awaited.is_empty()) {
        ProcessEnd& first = process.end_awaited.front();
        detail::Queue<ProcessEnd>::remove(first);
        first.happen();
    }
    process.drop_handle();
}

}  // namespace nw
