// SPDX-License-Identifier: Apache-2.0
/* Ferries in the style of ROOT-Sim after 3.0.0: islands draw from streams in their own state, and
 * ferries travel along the links of a graph, each of which has its length. Ships travel around the
 * islands, which form a ring; each ship has a list, a part of which is never written. The run ends
 * when enough ferries have arrived at each island. Then each island prints its numbers of ferries
 * and ships. */
#include <ROOT-Sim.h>
#include <ROOT-Sim/random.h>
#include <ROOT-Sim/topology.h>
#include <inttypes.h>

enum { ISLANDS = 64, LINKS = 5, SEEN_ENOUGH = 60 };
enum { FERRY = 1, SHIP };

struct island {
    struct rng_t stream;
    unsigned ferries;
    unsigned ships;
    simtime_t sailed;
};

struct list {
    unsigned port;
    simtime_t late; /* set for every other island only */
    char remarks[40];
};

static struct topology *links;
static struct topology *ring;
static simtime_t lengths[LINKS];

static void sail(lp_id_t me, simtime_t now, struct island *island) {
    /* Each island has links to five other islands. The library or the island draws one of these
     * links. */
    lp_id_t all[LINKS];
    GetAllReceivers(links, me, all);
    const lp_id_t to = Random(&island->stream) < 0.5 ? GetReceiver(links, me, DIRECTION_RANDOM)
                                                     : all[RandomRange(&island->stream, 0, LINKS - 1)];
    const simtime_t length = *(const simtime_t *)GetTopologyLinkData(links, me, to);
    const simtime_t delay = length * Expent(&island->stream, 1) + 0.001 * Gamma(&island->stream, 3);
    ScheduleNewEvent(to, now + delay, FERRY, &delay, sizeof delay);
}

static void send_ship(lp_id_t me, simtime_t now, const struct island *island) {
    struct list *list = rs_malloc(sizeof(*list));
    list->port = (unsigned)me;
    if (me % 2 == 0) list->late = now;
    if (island->ships % 2 == 0) snprintf(list->remarks, sizeof list->remarks, "%u ships", island->ships);
    ScheduleNewEvent(GetReceiver(ring, me, DIRECTION_E), now + 0.1, SHIP, list, sizeof(*list));
    rs_free(list);
}

static void process(lp_id_t me, simtime_t now, unsigned type, const void *content, unsigned size,
                    void *state) {
    struct island *island = state;
    (void)size;
    switch (type) {
        case LP_INIT:
            island = rs_calloc(1, sizeof(*island));
            initialize_stream((unsigned)me, &island->stream);
            SetState(island);
            sail(me, now, island);
            if (me % 16 == 0) ScheduleNewEvent(me, Poisson(&island->stream), SHIP, NULL, 0);
            break;
        case FERRY:
            ++island->ferries;
            island->sailed += *(const simtime_t *)content;
            sail(me, now, island);
            break;
        case SHIP:
            ++island->ships;
            send_ship(me, now, island);
            break;
        case LP_FINI:
            printf("island %" PRIu64 " saw %u ferries of %a and %u ships, then %016" PRIx64 "\n", me,
                   island->ferries, island->sailed, island->ships, RandomU64(&island->stream));
            break;
        default:
            abort();
    }
}

static bool seen_enough(lp_id_t me, const void *snapshot) {
    (void)me;
    return ((const struct island *)snapshot)->ferries >= SEEN_ENOUGH;
}

/* Returns 0 if the topology functions return the documented values. */
static int make_links(void) {
    links = InitializeTopology(TOPOLOGY_GRAPH, ISLANDS);
    ring = InitializeTopology(TOPOLOGY_RING, ISLANDS);
    for (int i = 0; i < LINKS; ++i) lengths[i] = 0.5 + 0.25 * i;
    for (lp_id_t from = 0; from < ISLANDS; ++from)
        for (lp_id_t i = 0; i < LINKS; ++i) {
            const lp_id_t to = (from + 7 * i + 1) % ISLANDS;
            if (!AddTopologyLink(links, from, to, 0.9) ||
                !SetTopologyLinkData(links, from, to, &lengths[i]))
                return 1;
        }
    lp_id_t sources[LINKS];
    GetAllSources(links, 0, sources);
    return !(NormalizeLinkProbabilities(links) && CountSources(links, 0) == LINKS && sources[0] == 35 &&
             sources[LINKS - 1] == 63 && CountDirections(links, 3) == LINKS && IsNeighbor(links, 3, 4) &&
             !IsNeighbor(links, 4, 3) && IsNeighbor(ring, 63, 0) && CountRegions(ring) == ISLANDS);
}

int main(void) {
    if (make_links() != 0) return 2;
    const struct simulation_configuration conf = {.lps = ISLANDS,
                                                  .n_threads = 2,
                                                  .log_level = LOG_SILENT,
                                                  .prng_seed = 20,
                                                  .synchronization = TIME_WARP,
                                                  .dispatcher = process,
                                                  .committed = seen_enough};
    if (RootsimInit(&conf) != 0) return 2;
    const int code = RootsimRun();
    ReleaseTopology(links);
    ReleaseTopology(ring);
    return code;
}
