// SPDX-License-Identifier: Apache-2.0
#include <ROOT-Sim.h>
#include <rootsim/random.h>
#include <stdio.h>

enum { JOB, END_SERVICE };
enum { STATIONS = 64, JOBS = 128 };
static const double service_mean = 1, link_delay = 0.5, until = 2000;

struct waiting {
    unsigned number;
    struct waiting *next;
};

struct station {
    struct waiting *first, **end; /* the first one is being served */
    unsigned jobs;
    double busy_time, job_time, since;
};

static void account(struct station *s, simtime_t now) {
    s->job_time += s->jobs * (now - s->since);
    if (s->jobs > 0) s->busy_time += now - s->since;
    s->since = now;
}

static void begin_service(lp_id_t me, simtime_t now) {
    ScheduleNewEvent(me, now + service_mean * Expent(1), END_SERVICE, NULL, 0);
}

static void ProcessEvent(lp_id_t me, simtime_t now, unsigned type, const void *content,
                         unsigned size, void *state) {
    struct station *s = state;
    struct waiting *job;
    (void)size;
    switch (type) {
        case LP_INIT:
            s = rs_calloc(1, sizeof(*s));
            s->end = &s->first;
            SetState(s);
            for (unsigned number = me; number < JOBS; number += STATIONS)
                ScheduleNewEvent(me, 0, JOB, &number, sizeof(number));
            break;
        case JOB:
            account(s, now);
            job = rs_malloc(sizeof(*job));
            job->number = *(const unsigned *)content;
            job->next = NULL;
            *s->end = job;
            s->end = &job->next;
            if (++s->jobs == 1) begin_service(me, now);
            break;
        case END_SERVICE:
            account(s, now);
            job = s->first;
            s->first = job->next;
            if (s->first == NULL) s->end = &s->first;
            ScheduleNewEvent((me + 1) % STATIONS, now + link_delay, JOB, &job->number,
                             sizeof(job->number));
            rs_free(job);
            if (--s->jobs > 0) begin_service(me, now);
            break;
        case LP_FINI:
            account(s, until);
            printf("station %u busy %f jobs %f\n", (unsigned)me, s->busy_time / until, s->job_time / until);
            break;
    }
}

static bool CanEnd(lp_id_t me, const void *snapshot) {
    (void)me;
    (void)snapshot;
    return false;
}

int main(void) {
    const struct simulation_configuration conf = {.lps = STATIONS,
                                                  .termination_time = until,
                                                  .log_level = LOG_SILENT,
                                                  .dispatcher = ProcessEvent,
                                                  .committed = CanEnd};
    if (RootsimInit(&conf) != 0) return 2;
    return RootsimRun();
}
