// Lets a thread of the program end a run. nw::run knows one way to that, SIGTERM: this sends it while
// somebody listens, and at most once, for a second one would kill the program.
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
    // Around a run, which replaces the action: before and after it a signal of ours that comes early or
    // late does nothing.
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

    // Where there is no run, nothing.
    void stop() {
        if (!is_running_) return;
        is_wanted_ = true;
        send();
    }
    // From now on the run takes the signal.
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

    // Sequentially consistent: of stop() and listen() at the same time one sees both.
    std::atomic<bool> is_running_ = false;
    std::atomic<bool> is_wanted_ = false;
    std::atomic<bool> is_listening_ = false;
    std::atomic<bool> is_sent_ = false;
};

}  // namespace nw::rootsim
