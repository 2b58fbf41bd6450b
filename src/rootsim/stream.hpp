// Where ROOT-Sim's random numbers begin. Apart from the functions that draw them, which a model may have
// its own of.
#pragma once

#include <cstdint>

#include "rootsim/lp.hpp"

namespace nw::rootsim {

// The first state of the generator of an LP: its number and the seed, enciphered by XXTEA (Wheeler,
// Needham: "Correction to XTEA", 1998) with a key of ROOT-Sim's.
Generator stream_of(std::uint64_t lp, std::uint64_t seed);

}  // namespace nw::rootsim
