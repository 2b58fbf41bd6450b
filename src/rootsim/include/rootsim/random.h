/* ROOT-Sim's random numbers: a stream for each LP, which is rolled back with it. The numbers are those
 * that ROOT-Sim draws with the same prng_seed. In a handler only. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint64_t RandomU64(void);
extern double Random(void);  /* uniform in [0, 1) */
extern double Poisson(void); /* exponential, of mean 1: the time to the next event of a Poisson process */
#define Expent(mean) ((mean)*Poisson())
extern double Normal(void);
extern int RandomRange(int min, int max); /* min and max among them */
extern int RandomRangeNonUniform(int x, int min, int max);
extern double Gamma(unsigned ia);
extern unsigned Zipf(double skew, unsigned limit);

#ifdef __cplusplus
}
#endif
