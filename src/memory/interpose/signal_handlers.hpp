// SPDX-License-Identifier: Apache-2.0
// Signal handlers that libraries install before main().
#pragma once

namespace nw {

// Ignores again all signals that were ignored when the process was started. nohup(1) starts a
// program with SIGHUP ignored, but UCX, which Open MPI 5 loads, installs a handler for SIGHUP in
// its constructor.
// Thread: before main().
void ignore_signals_again() noexcept;

}  // namespace nw
