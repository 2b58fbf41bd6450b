// SPDX-License-Identifier: Apache-2.0
// The machine and the compiler of a run. Figures of different runs can be compared only if these
// are known. A value that the kernel does not provide is "unknown".
#pragma once

#include <string>

namespace nw {

struct MachineFacts {
    std::string cpu;     // name of the CPU model
    unsigned cpus = 0;   // hardware threads: the smaller of CPU affinity and quota; 0: unknown
    std::string kernel;  // name and release
    std::string compiler;
};

MachineFacts machine_facts();

// The current date and time, as in 2026-02-28T15:04:05Z.
std::string date_now();

}  // namespace nw
