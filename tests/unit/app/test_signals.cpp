// SPDX-License-Identifier: Apache-2.0
// The first signal is a request. A signal right after the first one belongs to the same request. A
// later signal kills the process. Each case has a child process, because signals are sent to a
// process.
#include <csignal>

#include <chrono>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "app/signals.hpp"
#include "tests/support/catch.hpp"

namespace {

// Returns the status, as of waitpid(), of a child that gets SIGTERM twice, with a pause in between.
int end_after_two_signals(std::chrono::milliseconds pause) {
    const pid_t child = fork();
    if (child == 0) {
        nw::LiveProgress live;
        live.begin(0);
        const nw::StopSignals signals(live, false, true);
        raise(SIGTERM);
        std::this_thread::sleep_for(pause);
        raise(SIGTERM);
        _exit(signals.received() == SIGTERM ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

// Returns the status of a child that gets SIGTERM. The engine reads the request only if the run has
// begun and is not `unstoppable`.
int end_after_signal(bool begun, const char* unstoppable) {
    const pid_t child = fork();
    if (child == 0) {
        nw::LiveProgress live;
        if (begun) live.begin(0);
        live.unstoppable = unstoppable;
        const nw::StopSignals signals(live, true, false);
        raise(SIGTERM);
        _exit(signals.received() == SIGTERM ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

// The text that a process prints on standard error when it gets SIGUSR2, and the number of requests
// that the run receives.
struct PlacementAnswer {
    std::string line;
    int requests = -1;
};

PlacementAnswer answer_to_placement_signal(bool watched) {
    int errors[2] = {-1, -1};
    REQUIRE(pipe(errors) == 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(errors[1], STDERR_FILENO);
        nw::LiveProgress live;
        const nw::PlacementSignal signal(live);
        live.placement_watched = watched;
        raise(SIGUSR2);
        raise(SIGUSR2);
        _exit(static_cast<int>(live.placement_requests));
    }
    close(errors[1]);
    PlacementAnswer answer;
    char byte = 0;
    while (read(errors[0], &byte, 1) == 1) answer.line += byte;
    close(errors[0]);
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) answer.requests = WEXITSTATUS(status);
    return answer;
}

}  // namespace

TEST_CASE("signals: if no engine reads the request the first signal ends the process") {
    CHECK(WEXITSTATUS(end_after_signal(true, nullptr)) == 0);
    CHECK(WEXITSTATUS(end_after_signal(false, nullptr)) == 128 + SIGTERM);
    CHECK(WEXITSTATUS(end_after_signal(true, "in on_end()")) == 128 + SIGTERM);
}

TEST_CASE("signals: a placement request is counted if placement is monitored") {
    const PlacementAnswer answer = answer_to_placement_signal(true);
    CHECK(answer.requests == 2);
    CHECK(answer.line.empty());
}

TEST_CASE(
    "signals: if placement is not monitored the answer reports this and nothing else happens") {
    const PlacementAnswer answer = answer_to_placement_signal(false);
    CHECK(answer.requests == 0);
    CHECK(answer.line.find("numawarp: placement: not monitored") == 0);
}

TEST_CASE("signals: two signals at the same time are one request") {
    const int status = end_after_two_signals(std::chrono::milliseconds(0));
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("signals: a second signal after half a second kills the process") {
    const int status = end_after_two_signals(std::chrono::milliseconds(600));
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGTERM);
}
