// Which machine and which compiler a run's figures come from: a result without them compares with
// nothing. What the kernel does not tell is "unknown".
#pragma once

#include <string>

namespace nw {

struct MachineFacts {
    std::string cpu;     // the model's name
    unsigned cpus = 0;   // hardware threads: the smaller of CPU affinity and quota; 0: unknown
    std::string kernel;  // its release
    std::string compiler;
};

MachineFacts machine_facts();

// Now, as 2026-02-28T15:04:05Z.
std::string date_now();

}  // namespace nw
