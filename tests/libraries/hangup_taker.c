// SPDX-License-Identifier: Apache-2.0
// A library whose constructor installs a handler for SIGHUP, as UCX does.
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static void on_hangup(int number) {
    (void)number;
    _exit(99);
}

__attribute__((constructor)) static void take_hangup(void) {
    struct sigaction action = {.sa_handler = on_hangup};
    sigaction(SIGHUP, &action, NULL);
}
