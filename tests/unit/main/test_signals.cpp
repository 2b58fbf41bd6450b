// The first signal is a request; what comes right after it is the same request once more; what comes
// later kills. Signals are a process's own, so each case has a child process.
#include <csignal>

#include <chrono>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "main/signals.hpp"
#include "tests/support/catch.hpp"

namespace {

// How a child ends that gets SIGTERM twice, with this pause between: the status of waitpid().
int end_after_two_signals(std::chrono::milliseconds pause) {
    const pid_t child = fork();
    if (child == 0) {
        const nw::StopSignals signals;
        raise(SIGTERM);
        std::this_thread::sleep_for(pause);
        raise(SIGTERM);
        _exit(signals.received() == SIGTERM ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST_CASE("signals: two at once are one request") {
    const int status = end_after_two_signals(std::chrono::milliseconds(0));
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("signals: a second one after half a second kills") {
    const int status = end_after_two_signals(std::chrono::milliseconds(600));
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGTERM);
}
