// SPDX-License-Identifier: Apache-2.0
// The exit codes of the process. Scripts rely on these numbers.
#pragma once

namespace nw {

enum ExitCode : int {
    exit_done = 0,
    exit_internal_error = 1,
    exit_wrong_setup = 2,
    exit_model_error = 3,
    exit_machine_error = 4,
    exit_signal_base = 128,  // plus the number of the signal, as in shells
};

}  // namespace nw
