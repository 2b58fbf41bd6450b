// What the start of a program does about signal handlers that are there before main().
#pragma once

namespace nw {

// Signals that the process was started with as ignored are ignored again: nohup(1) starts a program with SIGHUP ignored,
// and UCX, which Open MPI 5 loads, handles SIGHUP from its constructor on. Thread: before main().
void ignore_signals_again() noexcept;

}  // namespace nw
