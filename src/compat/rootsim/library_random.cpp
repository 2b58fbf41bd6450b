// SPDX-License-Identifier: Apache-2.0
// ROOT-Sim's random numbers after core 3.0.0, from streams that the model stores.
#include "compat/rootsim/distributions.hpp"
#include "compat/rootsim/include/ROOT-Sim/random.h"

using namespace nw::rootsim;

namespace {

static_assert(sizeof(rng_t) == sizeof(Generator));

Generator& of(rng_t* ctx) { return *reinterpret_cast<Generator*>(ctx->state); }

}  // namespace

void initialize_stream(unsigned stream, rng_t* ctx) { of(ctx) = stream_of(stream, master_seed); }

std::uint64_t RandomU64(rng_t* ctx) { return next(of(ctx)); }
double Random(rng_t* ctx) { return next_uniform(of(ctx)); }
double Poisson(rng_t* ctx) { return draw_exponential(of(ctx)); }
double Normal(rng_t* ctx) { return draw_normal(of(ctx)); }
int RandomRange(rng_t* ctx, int min, int max) { return draw_range(of(ctx), min, max); }
int RandomRangeNonUniform(rng_t* ctx, int x, int min, int max) {
    return draw_range_non_uniform(of(ctx), x, min, max);
}
double Gamma(rng_t* ctx, unsigned ia) { return draw_gamma(of(ctx), ia); }
unsigned Zipf(rng_t* ctx, double skew, unsigned limit) { return draw_zipf(of(ctx), skew, limit); }
