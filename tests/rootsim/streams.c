/* Draws of each kind, for comparison with ROOT-Sim's own. The seed is that of --prng-seed. */
#include <ROOT-Sim.h>
#include <inttypes.h>

static void draw(lp_id_t me, simtime_t now, unsigned type, const void *content, unsigned size,
                 void *state) {
    (void)now, (void)content, (void)size, (void)state;
    if (type != LP_FINI) return;
    printf("%" PRIu64 ":", me);
    printf(" %016" PRIx64, RandomU64());
    printf(" %a", Random());
    printf(" %a", Poisson());
    printf(" %a", Normal());
    printf(" %d", RandomRange(-3, 1000));
    printf(" %a", Gamma(3));
    printf(" %a", Gamma(9));
    printf(" %u\n", Zipf(1.5, 1000));
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
