// SPDX-License-Identifier: Apache-2.0
// Guards for the process's signals, around code that must not be interrupted by signals or that
// changes their handlers.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <initializer_list>

namespace nw {

// Blocks the signals of the calling thread during its lifetime, except the signals that errors of
// the program raise. A thread that is started meanwhile inherits the blocked signals, so the
// process's signals go to its other threads.
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

// Saves the actions of these signals and restores them at the end of its lifetime, whatever a
// library has set meanwhile.
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
