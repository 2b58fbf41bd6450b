#include "main/signals.hpp"

namespace nw {

namespace {

std::atomic<int> received_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not wait for a lock");

void on_signal(int signal) {
    received_signal.store(signal, std::memory_order_relaxed);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
    received_signal.store(0, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
}

StopSignals::~StopSignals() {
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
}

const std::atomic<int>& StopSignals::received() const noexcept { return received_signal; }

}  // namespace nw
