// SPDX-License-Identifier: Apache-2.0
/* Random numbers of each kind, for comparison with ROOT-Sim's own. --prng-seed is the seed. */
#include <ROOT-Sim.h>
#include <inttypes.h>

/* The numbers come from the LP's stream, or from a stream of the model. */
#ifdef OWN_STREAM
#include <ROOT-Sim/random.h>
#define STREAM &stream
#define STREAM_AND &stream,
#else
#define STREAM
#define STREAM_AND
#endif

static void draw(lp_id_t me, simtime_t now, unsigned type, const void *content, unsigned size,
                 void *state) {
    (void)now, (void)content, (void)size, (void)state;
    if (type != LP_FINI) return;
#ifdef OWN_STREAM
    struct rng_t stream;
    initialize_stream((unsigned)me, &stream);
#endif
    printf("%" PRIu64 ":", me);
    printf(" %016" PRIx64, RandomU64(STREAM));
    printf(" %a", Random(STREAM));
    printf(" %a", Poisson(STREAM));
    printf(" %a", Normal(STREAM));
    printf(" %d", RandomRange(STREAM_AND -3, 1000));
    printf(" %a", Gamma(STREAM_AND 3));
    printf(" %a", Gamma(STREAM_AND 9));
    printf(" %u\n", Zipf(STREAM_AND 1.5, 1000));
}

static bool can_end(lp_id_t me, const void *snapshot) {
    (void)me, (void)snapshot;
    return false;
}

int main(void) {
    const struct simulation_configuration conf = {
        .lps = 3, .log_level = LOG_SILENT, .serial = true, .dispatcher = draw, .committed = can_end};
    return RootsimInit(&conf) == 0 ? RootsimRun() : 2;
}
