// The process's signals around code that must not get them, or that takes them for itself.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <initializer_list>

namespace nw {

// Blocks the calling thread's signals while it lives, but for those that a program's own errors raise.
// A thread that is started meanwhile never gets them: the process's signals go to its other threads.
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

// What is done about these signals is the same after its life as before, whatever a library does to it.
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
