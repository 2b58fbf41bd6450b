// SPDX-License-Identifier: Apache-2.0
/* Random numbers of ROOT-Sim's library after core 3.0.0 (random-number-generators 1.0.2). A model
 * stores streams in its state, and they are rolled back with the state. The numbers are those that
 * ROOT-Sim draws with the same master seed (--prng-seed). */
#pragma once

#include <stdint.h>

#include <rootsim/symbol.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rng_t {
    uint64_t state[4];
};

/* Allowed in handlers, and before the run (then with the seed of the configuration). */
extern void initialize_stream(unsigned stream, struct rng_t *ctx) ROOTSIM_SYMBOL(initialize_stream);

extern uint64_t RandomU64(struct rng_t *ctx) ROOTSIM_SYMBOL(RandomU64);
extern double Random(struct rng_t *ctx) ROOTSIM_SYMBOL(Random);   /* uniform in [0, 1) */
extern double Poisson(struct rng_t *ctx) ROOTSIM_SYMBOL(Poisson); /* exponential with mean 1 */
#define Expent(state, mean) ((mean)*Poisson(state))
extern double Normal(struct rng_t *ctx) ROOTSIM_SYMBOL(Normal);
/* from min to max, including both */
extern int RandomRange(struct rng_t *ctx, int min, int max) ROOTSIM_SYMBOL(RandomRange);
extern int RandomRangeNonUniform(struct rng_t *ctx, int x, int min, int max)
    ROOTSIM_SYMBOL(RandomRangeNonUniform);
extern double Gamma(struct rng_t *ctx, unsigned ia) ROOTSIM_SYMBOL(Gamma);
extern unsigned Zipf(struct rng_t *ctx, double skew, unsigned limit) ROOTSIM_SYMBOL(Zipf);

#ifdef __cplusplus
}
#endif
