// SPDX-License-Identifier: Apache-2.0
// Guards around code that signals must not interrupt, and around code that changes the handlers of
// signals.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <initializer_list>

namespace nw {

// During its lifetime, blocks the signals of the calling thread, except the signals that errors of
// the program raise. A thread that is started in this time inherits the blocked signals, so the
// kernel delivers signals of the process to other threads.
class SignalsBlocked {
  public:
    SignalsBlocked() noexcept {
        sigset_t blocked;
        sigfillset(&blocked);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
            sigdelset(&blocked, fault);
        pthread_sigmask(SIG_SETMASK, &blocked, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_;
};

// Saves the actions of `signals`, and restores them at the end of the object's lifetime, even if a
// library has set other actions in between.
template <int... signals>
class KeptSignalActions {
  public:
    KeptSignalActions() noexcept {
        std::size_t i = 0;
        (sigaction(signals, nullptr, &actions_[i++]), ...);
    }
    ~KeptSignalActions() {
        std::size_t i = 0;
        (sigaction(signals, &actions_[i++], nullptr), ...);
    }
    KeptSignalActions(const KeptSignalActions&) = delete;
    KeptSignalActions& operator=(const KeptSignalActions&) = delete;

  private:
    std::array<struct sigaction, sizeof...(signals)> actions_{};
};

}  // namespace nw
