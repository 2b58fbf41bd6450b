// What several processes may wait for: a Signal, which is given by whoever holds it, and the end of a
// Process.
#pragma once

#include <exception>

#include <numawarp/process/awaited.hpp>
#include <numawarp/process/coroutine.hpp>
#include <numawarp/process/environment.hpp>

namespace nw {

class Signal;

// One process that waits for a Signal: what `co_await signal` makes.
class SignalWait : public Awaited {
  public:
    // Happens at once if the signal is on.
    explicit SignalWait(Signal& signal);
    ~SignalWait() { detail::Queue<SignalWait>::remove(*this); }
    // What co_await returns: nothing.
    void result() noexcept {}

  private:
    friend class Signal;
};

// `co_await signal` waits until it is on; if it is on already, it goes on at once. So a Signal that is
// turned on once is an event that several processes may wait for, before and after it happens.
class Signal {
  public:
    // It is off.
    explicit Signal(Environment& env) noexcept : env_(&env) {}

    // Whether it is on.
    bool is_on() const noexcept { return is_on_; }
    // From now on it is on; who waits goes on at this instant.
    void turn_on() noexcept {
        is_on_ = true;
        pulse();
    }
    // From now on it is off, and processes wait.
    void turn_off() noexcept { is_on_ = false; }
    // Wakes the processes that wait now, as a condition variable does; it is on or off as before.
    void pulse() noexcept {
        while (!waits_.is_empty()) {
            SignalWait& first = waits_.front();
            detail::Queue<SignalWait>::remove(first);
            first.happen();
        }
    }
    // That of its LP.
    Environment& env() const noexcept { return *env_; }

  private:
    friend class SignalWait;
    Environment* env_;
    bool is_on_ = false;
    detail::Queue<SignalWait> waits_;
};

// One process that waits for the end of another: what `co_await process` makes. It throws what that one
// threw.
class ProcessEnd final : public Awaited {
  public:
    // Requires: the process was started; a breach is a ModelError.
    explicit ProcessEnd(const Process& process);
    ~ProcessEnd() { detail::Queue<ProcessEnd>::remove(*this); }
    // What co_await returns: nothing; and what the process threw is thrown.
    void result() const noexcept {}

  private:
    friend class Environment;
    void happen() noexcept { Awaited::happen(process_.state_->failure); }
    Process process_;
};

// --- Inline ----------------------------------------------------------------------------------------

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
        throw ModelError("a process waits for the end of one that was not started");
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
