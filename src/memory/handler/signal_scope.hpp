// SPDX-License-Identifier: Apache-2.0
// The mode in which a signal handler runs if it interrupts a handler of the model.
#pragma once

#include <atomic>
#include <csignal>

#include "memory/handler/fault_guard.hpp"
#include "memory/handler/heap_scope.hpp"

namespace nw {

// Surrounds a signal handler of the program, which may interrupt a handler of the model. The signal
// handler does not act for the model: inside the scope the thread is in platform mode, and
// in_handler() is false.
class SignalScope {
  public:
    SignalScope() noexcept : interrupted_(handler_call.guard.load(std::memory_order_relaxed)) {
        handler_call.guard.store(nullptr, std::memory_order_relaxed);
    }
    ~SignalScope() { handler_call.guard.store(interrupted_, std::memory_order_relaxed); }
    SignalScope(const SignalScope&) = delete;
    SignalScope& operator=(const SignalScope&) = delete;

  private:
    const PlatformScope platform_;
    FaultGuard* interrupted_;
};

// Installs a signal handler of the engine, which runs in the mode of the interrupted handler. The
// interposer calls all other signal handlers in a SignalScope.
void install_in_handler_mode(int signal, const struct sigaction& action) noexcept;
extern constinit thread_local bool installs_in_handler_mode;

}  // namespace nw
