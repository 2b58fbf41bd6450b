// SPDX-License-Identifier: Apache-2.0
/* PHOLD in ROSS's style, for ross_overhead.py. ross_phold_native.cpp is the same model for our own
 * interface. */
#include <ross.h>

typedef struct {
    long count;
} state;

typedef struct {
    long number;
} message;

static unsigned int lps = 1024;
static unsigned int start_events = 16;
static double remote = 0.1;
static double mean = 0.9;
static double least = 0.1;
static unsigned int commits = 0;

static void send(tw_lp* lp, tw_lpid to, long number) {
    tw_event* event = tw_event_new(to, least + tw_rand_exponential(lp->rng, mean), lp);
    message* m = tw_event_data(event);
    m->number = number;
    tw_event_send(event);
}

static void init(state* s, tw_lp* lp) {
    (void)s;
    for (unsigned int i = 0; i < start_events; ++i) send(lp, lp->gid, i);
}

static void event(state* s, tw_bf* bf, message* m, tw_lp* lp) {
    tw_lpid to = lp->gid;
    (void)m;
    bf->c1 = 0;
    s->count++;
    if (tw_rand_unif(lp->rng) <= remote) {
        bf->c1 = 1;
        to = (tw_lpid)tw_rand_integer(lp->rng, 0, lps - 1);
    }
    send(lp, to, s->count);
}

static void reverse(state* s, tw_bf* bf, message* m, tw_lp* lp) {
    (void)m;
    tw_rand_reverse_unif(lp->rng);
    if (bf->c1) tw_rand_reverse_unif(lp->rng);
    tw_rand_reverse_unif(lp->rng);
    s->count--;
}

static void commit(state* s, tw_bf* bf, message* m, tw_lp* lp) {
    (void)s;
    (void)bf;
    (void)m;
    (void)lp;
}

static tw_peid node_of(tw_lpid gid) { return gid / g_tw_nlp; }

static tw_lptype type = {(init_f)init, NULL, (event_f)event, (revent_f)reverse,
                         NULL,         NULL, node_of,        sizeof(state)};

static const tw_optdef options[] = {
    TWOPT_GROUP("PHOLD"),
    TWOPT_UINT("lps", lps, "number of LPs"),
    TWOPT_UINT("events-per-lp", start_events, "events that each LP starts with"),
    TWOPT_DOUBLE("remote", remote, "probability that an event goes to an LP chosen at random from all"),
    TWOPT_FLAG("commits", commits, "with a commit handler that does nothing"),
    TWOPT_END()};

int main(int argc, char** argv) {
    tw_opt_add(options);
    tw_init(&argc, &argv);
    g_tw_lookahead = least;
    if (commits) type.commit = (commit_f)commit;
    tw_define_lps(lps / tw_nnodes(), sizeof(message));
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) tw_lp_settype(i, &type);
    tw_run();
    tw_end();
    return 0;
}
