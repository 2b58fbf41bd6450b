// What the process ends with: a contract with scripts.
#pragma once

namespace nw {

enum ExitCode : int {
    exit_done = 0,
    exit_internal_error = 1,
    exit_wrong_setup = 2,
    exit_model_error = 3,
    exit_machine_error = 4,
    exit_signal_base = 128,  // plus the signal's number, as shells have it
};

}  // namespace nw
