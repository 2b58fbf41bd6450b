// SPDX-License-Identifier: Apache-2.0
/* ROOT-Sim's random numbers, for handlers only. Each LP has a stream, which is rolled back with the
 * LP. The numbers are those that ROOT-Sim draws with the same prng_seed. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint64_t RandomU64(void);
extern double Random(void);  /* uniform in [0, 1) */
extern double Poisson(void); /* exponential with mean 1: time between events of a Poisson process */
#define Expent(mean) ((mean)*Poisson())
extern double Normal(void);
extern int RandomRange(int min, int max); /* from min to max, including both */
extern int RandomRangeNonUniform(int x, int min, int max);
extern double Gamma(unsigned ia);
extern unsigned Zipf(double skew, unsigned limit);

#ifdef __cplusplus
}
#endif
