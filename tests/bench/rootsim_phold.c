// SPDX-License-Identifier: Apache-2.0
/* PHOLD written for ROOT-Sim, with its library of random numbers. It shows the cost of the
 * interface in comparison with the same model written for numawarp (rootsim_twin.cpp). Both have
 * the same digest.
 *
 *     rootsim_phold LPS EVENTS-PER-LP REMOTE UNTIL -- OPTIONS */
#include <ROOT-Sim.h>
#include <string.h>

enum { EVENT = 1 };

struct state {
    uint64_t events;
    uint64_t checksum;
};

static lp_id_t lps = 1024;
static int events_per_lp = 1;
static double remote = 0.1;

static void send(lp_id_t to, simtime_t now) {
    ScheduleNewEvent(to, now + (0.1 + Expent(0.9)), EVENT, NULL, 0);
}

static void process(lp_id_t me, simtime_t now, unsigned type, const void* content, unsigned size,
                    void* memory) {
    (void)content, (void)size;
    struct state* state = memory;
    switch (type) {
        case LP_INIT:
            state = rs_calloc(1, sizeof(*state));
            SetState(state);
            for (int i = 0; i < events_per_lp; ++i) send(me, now);
            break;
        case EVENT: {
            uint64_t bits;
            memcpy(&bits, &now, sizeof(bits));
            ++state->events;
            state->checksum += bits;
            send(Random() < remote ? (lp_id_t)(Random() * (double)lps) : me, now);
            break;
        }
        default:
            break;
    }
}

static bool can_end(lp_id_t me, const void* snapshot) {
    (void)me, (void)snapshot;
    return false;
}

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    lps = strtoull(argv[1], NULL, 10);
    events_per_lp = atoi(argv[2]);
    remote = atof(argv[3]);
    const struct simulation_configuration conf = {.lps = lps,
                                                  .termination_time = atof(argv[4]),
                                                  .log_level = LOG_SILENT,
                                                  .prng_seed = 1,
                                                  .core_binding = true,
                                                  .dispatcher = process,
                                                  .committed = can_end};
    return RootsimInit(&conf) == 0 ? RootsimRun() : 2;
}
