// SPDX-License-Identifier: Apache-2.0
// Declarations that the parts of the interface for classic ROOT-Sim (version 2) share.
#pragma once

#include <cstdint>

#include "compat/rootsim/lp.hpp"

namespace nw::rootsim {

// The LP whose handler is running. For functions that change the LP or draw random numbers: a call
// in OnGVT() is refused, because each engine calls OnGVT() at different moments.
inline Lp& lp_in_handler(const char* function) {
    current_context(function);
    return *running_call.lp;
}

// The first state of an LP's generator.
Generator classic_stream_of(std::uint64_t lp, std::uint64_t seed);

// Prepares the model's topology for `lps` LPs, if the model has a topology. Throws SetupError.
void lay_out_topology(std::uint32_t lps);

// The LPs of a model with agents. Throws SetupError if the model has no topology.
ProcessFactory agent_process(std::uint64_t seed);

}  // namespace nw::rootsim
