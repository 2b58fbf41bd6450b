/* Breaks one rule of ROOT-Sim's interface: `misuse RULE -- OPTIONS`. */
#include <ROOT-Sim.h>
#include <string.h>

static const char *rule = "";
static char content[70000];

static bool broken(const char *name) { return strcmp(rule, name) == 0; }

static void process(lp_id_t me, simtime_t now, unsigned type, const void *message, unsigned size,
                    void *state) {
    (void)message, (void)size, (void)state;
    if (type == LP_FINI) return;
    if (me == 3 && now > 2) {
        if (broken("past")) ScheduleNewEvent(me, now - 1, 1, NULL, 0);
        if (broken("unknown")) ScheduleNewEvent(UINT64_C(1) << 32, now + 1, 1, NULL, 0);
        if (broken("large")) ScheduleNewEvent(me, now + 1, 1, content, sizeof(content));
        if (broken("stop")) RootsimStop();
        if (broken("abort")) abort();
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
    if (RootsimInit(&conf) != 0) return 2;
    return RootsimRun();
}
