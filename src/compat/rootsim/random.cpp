// SPDX-License-Identifier: Apache-2.0
// ROOT-Sim's random numbers before core 3.0.0, from the stream of the LP whose function is running.
#include "compat/rootsim/include/rootsim/random.h"

#include "compat/rootsim/distributions.hpp"

namespace {

nw::rootsim::Generator& own(const char* function) {
    return nw::rootsim::current_lp(function).generator;
}

}  // namespace

using namespace nw::rootsim;

std::uint64_t RandomU64() { return next(own("RandomU64")); }
double Random() { return next_uniform(own("Random")); }
double Poisson() { return draw_exponential(own("Poisson")); }
double Normal() { return draw_normal(own("Normal")); }
int RandomRange(int min, int max) { return draw_range(own("RandomRange"), min, max); }
int RandomRangeNonUniform(int x, int min, int max) {
    return draw_range_non_uniform(own("RandomRangeNonUniform"), x, min, max);
}
double Gamma(unsigned ia) { return draw_gamma(own("Gamma"), ia); }
unsigned Zipf(double skew, unsigned limit) { return draw_zipf(own("Zipf"), skew, limit); }
