// SPDX-License-Identifier: Apache-2.0
/* Breaks one rule of ROOT-Sim's interface: `misuse RULE -- OPTIONS`. */
#include <ROOT-Sim.h>
#include <ROOT-Sim/random.h>
#include <ROOT-Sim/topology.h>
#include <math.h>
#include <string.h>

static const char *rule = "";
static char content[70000];
static struct topology *shared; /* used by all LPs, which must not change it */

static bool broken(const char *name) { return strcmp(rule, name) == 0; }

static void draw_in_vain(void) {
    struct rng_t stream;
    initialize_stream(1, &stream);
    if (broken("zipf-limit")) Zipf(&stream, 1.5, 0);
    if (broken("zipf-skew")) Zipf(&stream, NAN, 10);
}

static void change_topology(void) {
    struct topology *const own = InitializeTopology(TOPOLOGY_GRAPH, 2u);
    AddTopologyLink(own, 0, 1, 1);
    ReleaseTopology(own);
    if (broken("link")) AddTopologyLink(shared, 1, 0, 1);
    if (broken("link-data")) SetTopologyLinkData(shared, 0, 1, content);
    if (broken("normalize")) NormalizeLinkProbabilities(shared);
    if (broken("release")) ReleaseTopology(shared);
}

static void process(lp_id_t me, simtime_t now, unsigned type, const void *message, unsigned size,
                    void *state) {
    (void)message, (void)size, (void)state;
    if (type == LP_FINI) return;
    if (me == 3 && now > 2) {
        if (broken("past")) ScheduleNewEvent(me, now - 1, 1, NULL, 0);
        if (broken("unknown")) ScheduleNewEvent(UINT64_C(1) << 32, now + 1, 1, NULL, 0);
        if (broken("large")) ScheduleNewEvent(me, now + 1, 1, content, sizeof(content));
        if (broken("stop")) RootsimStop();
        if (broken("state")) SetState(&rule);
        if (broken("abort")) abort();
        if (broken("init-again")) RootsimInit(NULL);
        if (broken("run-again")) RootsimRun();
        draw_in_vain();
        change_topology();
    }
    ScheduleNewEvent((me + 1) % 8, now + 0.5, 1, NULL, 0);
}

static bool can_end(lp_id_t me, const void *snapshot) {
    (void)snapshot;
    if (me == 3) {
        if (broken("asked")) ScheduleNewEvent(me, 5, 1, NULL, 0);
        if (broken("asked-state")) SetState(NULL);
        if (broken("asked-stop")) RootsimStop();
    }
    return false;
}

int main(int argc, char **argv) {
    if (argc > 1) rule = argv[1];
    const struct simulation_configuration conf = {.lps = broken("many") ? UINT64_C(1) << 32 : 8,
                                                  .termination_time = 10,
                                                  .log_level = LOG_SILENT,
                                                  .synchronization = broken("third") ? 3 : 0,
                                                  .dispatcher = broken("none") ? NULL : process,
                                                  .committed = can_end};
    if (broken("early")) RootsimStop();
    if (broken("null")) return RootsimInit(NULL) == -1 ? 2 : 0;
    if (broken("outside")) ScheduleNewEvent(0, 1, 1, NULL, 0);
    if (broken("unset")) return RootsimRun() == -1 ? 2 : 0;
    if (broken("zipf-outside")) rule = "zipf-limit", draw_in_vain();
    shared = InitializeTopology(TOPOLOGY_GRAPH, 2u);
    AddTopologyLink(shared, 0, 1, 1);
    if (RootsimInit(&conf) != 0) return 2;
    return RootsimRun();
}
