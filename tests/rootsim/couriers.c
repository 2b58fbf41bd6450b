// SPDX-License-Identifier: Apache-2.0
/* Agents in the style of classic ROOT-Sim: couriers walk over a square of offices, deliver where
 * their plan requires it, pass through other offices, exchange information, retire, and are
 * replaced by new couriers. The office's information travels with each courier, and thus changes
 * the digest. `--wrong RULE` breaks a rule. */
#include <ROOT-Sim.h>

#include <math.h>
#include <stdint.h>

enum { HIRE = 1, DELIVER, PASS, SET_OUT };

struct office {
    unsigned said[2]; /* data for the neighbors: deliveries, visits */
    unsigned events;
    uint64_t checksum;
};

struct courier {
    uint64_t seen;
    unsigned delivered;
    unsigned number;
};

static const char* wrong = "";

static const struct argp_option model_options[] = {{"wrong", 'w', "RULE", 0, "break a rule", 0},
                                                   {0}};

static bool broken(const char* rule) { return strcmp(wrong, rule) == 0; }

static error_t parse(int key, char* arg, struct argp_state* state) {
    (void)state;
    if (key != 'w') return ARGP_ERR_UNKNOWN;
    wrong = arg;
    /* Neither an LP nor a topology exists yet. */
    if (broken("early-visit")) EnqueueVisit(0, 0, DELIVER);
    if (broken("early-region")) NeighboursCount(0);
    if (broken("early-mean")) Expent(-1);
    if (broken("early-order")) Gamma(0);
    return 0;
}

struct argp model_argp = {model_options, parse, NULL, NULL, NULL, NULL, NULL};
struct _topology_settings_t topology_settings = {.default_geometry = TOPOLOGY_SQUARE};
struct _abm_settings_t abm_settings = {
    .neighbour_data_size = 2 * sizeof(unsigned), .traverse_handler = PASS, .keep_history = true};

static uint64_t mix(uint64_t a, uint64_t b) { return (a ^ b) * UINT64_C(1099511628211); }

/* Plans one or two deliveries in one place. */
static void plan(agent_t agent) {
    const unsigned there = RandomRange(0, (int)RegionsCount() - 1);
    unsigned region, event;
    EnqueueVisit(agent, 0, PASS);
    SetVisit(agent, there, DELIVER, 0);
    AddVisit(agent, 1, PASS, 0);
    GetVisit(agent, &region, &event, 1);
    if (region != there || event != DELIVER) abort();
    RemoveVisit(agent, 0);
    if (Random() < 0.3) EnqueueVisit(agent, there, DELIVER);
}

/* Adds the courier's information and the place from which it came to the office's checksum. */
static void look_at(struct office* office, agent_t agent) {
    unsigned bytes, region, event;
    simtime_t time;
    struct courier* courier = DataAgent(agent, &bytes);
    if (bytes != sizeof(*courier)) abort();
    GetPastVisit(agent, &region, &event, &time, 0);
    office->checksum =
        mix(mix(mix(office->checksum, courier->seen), event), CountPastVisits(agent));
    courier->seen = mix(office->checksum, region);
}

static void tell_each_other(struct office* office) {
    agent_t other;
    IterAgents(NULL);
    while (IterAgents(&other)) {
        const struct courier* courier = DataAgent(other, NULL);
        office->checksum = mix(office->checksum, courier->seen);
    }
}

static unsigned laziest_neighbour(unsigned me) {
    unsigned best = me, least = UINT_MAX;
    for (unsigned i = 0; i < DirectionsCount(); ++i) {
        unsigned region, *said;
        if (GetNeighbourInfo(i, &region, (void**)&said) == 0 && said[0] < least) {
            least = said[0];
            best = region;
        }
    }
    return best;
}

static void break_rule(unsigned me, simtime_t now, agent_t agent) {
    if (me != 5 || now < 3) return;
    if (broken("unknown")) DataAgent(agent + 1000003, NULL);
    if (broken("past")) ScheduleNewLeaveEvent(now - 1, SET_OUT, agent);
    if (broken("region")) EnqueueVisit(agent, RegionsCount(), DELIVER);
    if (broken("number")) RemoveVisit(agent, 7);
    if (broken("large")) {
        const agent_t heavy = SpawnAgent(100000);
        EnqueueVisit(heavy, 0, DELIVER);
        ScheduleNewLeaveEvent(now + 0.1, SET_OUT, heavy);
    }
    if (broken("event-past")) ScheduleNewEvent(me, now - 1, HIRE, NULL, 0);
    if (broken("event-unknown")) ScheduleNewEvent(n_prc_tot, now + 1, HIRE, NULL, 0);
    if (broken("event-large")) {
        static char content[70000];
        ScheduleNewEvent(me, now + 1, HIRE, content, sizeof(content));
    }
    if (broken("event-wide")) {
        static char content[65535];
        ScheduleNewEvent(me, now + 1, 1000000, content, sizeof(content));
    }
    if (broken("receiver")) GetReceiver(RegionsCount(), DIRECTION_N, false);
    if (broken("direction")) {
        unsigned region;
        void* said;
        GetNeighbourInfo(DIRECTION_SE, &region, &said);
    }
    if (broken("mean")) Expent(NAN);
    if (broken("skew")) Zipf(1, 10);
    if (broken("order")) Gamma(0);
    if (broken("tour")) {
        unsigned way[RegionsCount()];
        ComputeMinTour(me, me, way);
    }
}

void ProcessEvent(unsigned int me, simtime_t now, int type, agent_t* content, unsigned int size,
                  struct office* office) {
    (void)size;
    if (type == INIT) {
        office = calloc(1, sizeof(*office));
        SetState(office);
        TrackNeighbourInfo(office->said);
        if (me % 3 == 0) ScheduleNewEvent(me, Expent(1), HIRE, NULL, 0);
        ScheduleNewEvent(me, now + 30, HIRE, NULL, 0);
        return;
    }
    ++office->events;
    switch (type) {
        case HIRE: {
            const agent_t agent = SpawnAgent(sizeof(struct courier));
            struct courier* courier = DataAgent(agent, NULL);
            courier->number = office->events;
            plan(agent);
            ScheduleNewLeaveEvent(now + Expent(0.5), SET_OUT, agent);
            break;
        }
        case DELIVER: {
            struct courier* courier = DataAgent(*content, NULL);
            ++office->said[0];
            tell_each_other(office);
            look_at(office, *content);
            break_rule(me, now, *content);
            if (++courier->delivered > 6 && Random() < 0.2) {
                KillAgent(*content);
                ScheduleNewEvent(laziest_neighbour(me), now + Expent(1), HIRE, NULL, 0);
                break;
            }
            if (CountVisits(*content) == 0) plan(*content);
            ScheduleNewLeaveEvent(now + Expent(0.5), SET_OUT, *content);
            break;
        }
        case PASS: {
            unsigned way[RegionsCount()];
            ++office->said[1];
            look_at(office, *content);
            if (me != 0)
                office->checksum = mix(office->checksum, (uint64_t)ComputeMinTour(me, 0, way));
            ScheduleNewLeaveEvent(now + Expent(0.1), SET_OUT, *content);
            break;
        }
        case SET_OUT:
            /* A later plan replaces the first. */
            if (Random() < 0.1) ScheduleNewLeaveEvent(now + Expent(0.5), SET_OUT, *content);
            break;
        default:
            abort();
    }
}

static void break_rule_when_asked(unsigned me) {
    if (broken("asked")) ScheduleNewEvent(me, 100, HIRE, NULL, 0);
    if (broken("asked-spawn")) SpawnAgent(1);
    if (broken("asked-kill")) KillAgent(me);
    if (broken("asked-leave")) ScheduleNewLeaveEvent(100, SET_OUT, me);
    if (broken("asked-visit")) EnqueueVisit(me, 0, PASS);
    if (broken("asked-track")) TrackNeighbourInfo(NULL);
    if (broken("asked-state")) SetState(NULL);
    if (broken("asked-draw")) Expent(1);
    if (broken("asked-normal")) Normal();
    if (broken("asked-receiver")) FindReceiver();
}

/* Reads the first agent only: the result must not depend on the agent at which an earlier
 * iteration, in a handler or in this function, has stopped. */
static unsigned look_when_asked(void) {
    agent_t first;
    return CountAgents() > 0 && IterAgents(&first) ? CountAgents() : 0;
}

bool OnGVT(unsigned int me, struct office* snapshot) {
    if (me == 5) break_rule_when_asked(me);
    return snapshot->events + look_when_asked() >= 40;
}
