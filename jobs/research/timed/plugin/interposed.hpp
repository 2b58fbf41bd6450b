// SPDX-License-Identifier: Apache-2.0
// Functions of the C library, and the instruction RDTSC, that this library replaces in QEMU, so
// that QEMU reads the modeled time.
//
// With qemu_plugin_update_ns(), a plug-in can set QEMU's time. This function has no effect under
// TCG, because this accelerator lacks the operation that sets the virtual clock (QEMU 10.0).
#pragma once

#include <string>

#include "jobs/research/timed/plugin/guest_clock.hpp"

namespace nw::timed {

// Begins the replacement. Called once, by QEMU's main thread. Requires: the library is preloaded
// (LD_PRELOAD), and the clock lives until the end of the process.
void interpose(GuestClock& clock);
// Called by the thread of each vCPU before it executes code.
void interpose_vcpu(unsigned vcpu);
// A vCPU's thread halts or continues; between the calls, its waits are halts of the vCPU.
void note_idle(unsigned vcpu, bool is_idle);

// The replaced functions that QEMU has not called yet, separated by commas; empty after a complete
// boot. If a function stays in the list, QEMU was built in another way than expected, and the time
// of the guest is not the modeled time.
std::string functions_not_called();

// Ends the wait of QEMU's main thread for events. Thread: any.
void wake_main_thread();

// The host's monotonic clock, since the second of the first call.
Picoseconds host_time();

}  // namespace nw::timed
