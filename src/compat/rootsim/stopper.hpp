// SPDX-License-Identifier: Apache-2.0
// Lets any thread of the program end a run early. nw::run() ends early only after SIGTERM. A
// Stopper sends this signal to its own process when the run is ready to receive it. It sends the
// signal at most once, because a second signal would kill the program.
//
// Thread: any.
#pragma once

#include <atomic>
#include <csignal>

#include <signal.h>
#include <unistd.h>

namespace nw::rootsim {

class Stopper {
  public:
    // Exists before, during and after nw::run(), which sets its own action for the signal. A signal
    // that arrives before or after nw::run() is ignored.
    class Running {
      public:
        explicit Running(Stopper& stopper) : stopper_(stopper) {
            struct sigaction ignore {};
            ignore.sa_handler = SIG_IGN;
            sigaction(SIGTERM, &ignore, &old_);
            stopper_.is_running_ = true;
        }
        ~Running() {
            stopper_.is_running_ = stopper_.is_listening_ = stopper_.is_wanted_ =
                stopper_.is_sent_ = false;
            sigaction(SIGTERM, &old_, nullptr);
        }
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;

      private:
        Stopper& stopper_;
        struct sigaction old_ {};
    };

    // Ends the run. Does nothing if there is no run.
    void stop() {
        if (!is_running_) return;
        is_wanted_ = true;
        send();
    }
    // Called when the run is ready to receive the signal.
    void listen() {
        is_listening_ = true;
        send();
    }
    bool is_running() const noexcept { return is_running_; }
    bool was_used() const noexcept { return is_sent_; }

  private:
    void send() {
        if (is_wanted_ && is_listening_ && !is_sent_.exchange(true)) kill(getpid(), SIGTERM);
    }

    // Sequentially consistent: if stop() and listen() run at the same time, at least one of them
    // reads that is_wanted_ and is_listening_ are both true.
    std::atomic<bool> is_running_ = false;
    std::atomic<bool> is_wanted_ = false;
    std::atomic<bool> is_listening_ = false;
    std::atomic<bool> is_sent_ = false;
};

}  // namespace nw::rootsim
