// What classic ROOT-Sim's parts know of each other.
#pragma once

#include <cstdint>

#include "rootsim/lp.hpp"

namespace nw::rootsim {

// The LP whose handler is running. For what changes it or draws: OnGVT() only looks, and is asked at other moments on
// other engines.
inline Lp& lp_in_handler(const char* function) {
    current_context(function);
    return *running_call.lp;
}

// Where its random numbers begin.
Generator classic_stream_of(std::uint64_t lp, std::uint64_t seed);

// Lays out the model's topology over so many LPs, if it has one. Throws SetupError.
void lay_out_topology(std::uint32_t lps);

// The LPs of a model with agents. Throws SetupError where it has no topology.
ProcessFactory agent_process(std::uint64_t seed);

}  // namespace nw::rootsim
