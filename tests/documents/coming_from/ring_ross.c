// SPDX-License-Identifier: Apache-2.0
#include <ross.h>
#include <stdio.h>

typedef struct {
    int jobs; /* the first one is being served */
    double busy_time, job_time, since;
} station;

typedef enum { JOB, END_SERVICE } kind;
typedef struct {
    kind kind;
    station before; /* for the reverse handler */
} message;

static unsigned int stations = 64, jobs = 128;
static double service_mean = 1, link_delay = 0.5;
static double busy_time = 0, job_time = 0;

static void send(tw_lpid to, double delay, kind kind, tw_lp *lp) {
    tw_event *event = tw_event_new(to, delay, lp);
    message *m = tw_event_data(event);
    m->kind = kind;
    tw_event_send(event);
}

static void station_init(station *s, tw_lp *lp) {
    s->jobs = 0;
    s->busy_time = s->job_time = s->since = 0;
    for (tw_lpid job = lp->gid; job < jobs; job += stations)
        send(lp->gid, 0, JOB, lp);
}

static void account(station *s, tw_lp *lp) {
    s->job_time += s->jobs * (tw_now(lp) - s->since);
    if (s->jobs > 0) s->busy_time += tw_now(lp) - s->since;
    s->since = tw_now(lp);
}

static void station_event(station *s, tw_bf *bf, message *m, tw_lp *lp) {
    m->before = *s;
    account(s, lp);
    if (m->kind == JOB) {
        bf->c0 = ++s->jobs == 1;
    } else {
        send((lp->gid + 1) % stations, link_delay, JOB, lp);
        bf->c0 = --s->jobs > 0;
    }
    if (bf->c0) send(lp->gid, tw_rand_exponential(lp->rng, service_mean), END_SERVICE, lp);
}

static void station_reverse(station *s, tw_bf *bf, message *m, tw_lp *lp) {
    if (bf->c0) tw_rand_reverse_unif(lp->rng);
    *s = m->before;
}

static void station_final(station *s, tw_lp *lp) {
    account(s, lp);
    busy_time += s->busy_time;
    job_time += s->job_time;
}

static tw_peid station_map(tw_lpid gid) { return gid / g_tw_nlp; }

static tw_lptype types[] = {
    {(init_f)station_init, (pre_run_f)NULL, (event_f)station_event, (revent_f)station_reverse,
     (commit_f)NULL, (final_f)station_final, (map_f)station_map, sizeof(station)},
    {0}};

static const tw_optdef options[] = {
    TWOPT_GROUP("Ring"), TWOPT_UINT("stations", stations, "stations, one LP each"),
    TWOPT_UINT("jobs", jobs, "jobs on the ring"),
    TWOPT_DOUBLE("service-mean", service_mean, "mean time of a service"), TWOPT_END()};

int main(int argc, char **argv) {
    tw_opt_add(options);
    g_tw_ts_end = 2000;
    tw_init(&argc, &argv);
    g_tw_lookahead = link_delay;
    tw_define_lps(stations / tw_nnodes(), sizeof(message));
    for (tw_lpid i = 0; i < g_tw_nlp; i++) tw_lp_settype(i, &types[0]);
    tw_run();
    if (tw_ismaster())
        printf("busy %f jobs %f\n", busy_time / stations / g_tw_ts_end, job_time / stations / g_tw_ts_end);
    tw_end();
    return 0;
}
