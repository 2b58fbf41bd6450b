// SPDX-License-Identifier: Apache-2.0
/* Tellers and clerks in ROSS's style: two types of LPs with a custom mapping, several streams of
 * random numbers, messages into which a handler writes the data for its reverse handler, tw_bf,
 * commit handlers, and events that are created together and sent one after the other. Prints the
 * state of all LPs at the end. */
#include <ross.h>

#include "misuse.h"

typedef struct {
    double amount;
    double old_largest;
    unsigned int hops;
} message;

typedef struct {
    long balance;
    double largest;
    unsigned long served;
    unsigned long forms;
} teller_state;

typedef struct {
    unsigned long stamps;
} clerk_state;

static unsigned int tellers = 24;
static unsigned int clerks = 8;
static double mean = 1.0;
static unsigned int misuse = 0;
static unsigned long committed = 0; /* counted only with one worker */
static unsigned int count_commits = 0;
static unsigned int draws_before = 0;
static char label[64] = "bank";

static long total_balance = 0;
static unsigned long total_served = 0, total_forms = 0, total_stamps = 0;
static double largest = 0;

static tw_lpid all(void) { return g_tw_total_lps; }

/* Every fourth LP is a clerk. */
static int is_clerk(tw_lpid gid) { return gid % 4 == 3; }

static void send(tw_lp* lp, tw_lpid to, double delay, double amount, unsigned int hops) {
    tw_event* event = tw_event_new(to, delay, lp);
    message* m = tw_event_data(event);
    m->amount = amount;
    m->hops = hops;
    tw_event_send(event);
}

static void teller_init(teller_state* s, tw_lp* lp) {
    s->balance = 1000;
    send(lp, lp->gid, tw_rand_exponential(lp->rng, mean), 1.0, 0);
}

static void teller_event(teller_state* s, tw_bf* bf, message* m, tw_lp* lp) {
    make_misuse(misuse, lp);
    if (misuse == 10 && tw_now(lp) > 5) ((char*)m)[misuse_bytes] = 1;
    if (m->hops > 1000000) tw_error(TW_LOC, "hops: %u", m->hops);
    m->old_largest = s->largest;
    if (m->amount > s->largest) {
        bf->c0 = 1;
        s->largest = m->amount;
    }
    const long cents = tw_rand_integer(&lp->rng[1], 1, 100);
    m->hops =
        (unsigned int)cents; /* changes the message, but a second execution must get the original */
    s->balance -= cents;
    s->served++;
    tw_lpid to = (tw_lpid)tw_rand_integer(lp->rng, 0, (long)all() - 1);
    double const delay = tw_rand_exponential(lp->rng, mean) + g_tw_lookahead;
    if (is_clerk(to)) {
        bf->c1 = 1;
        tw_event* first = tw_event_new(to, delay, lp);
        tw_event* second = tw_event_new(lp->gid, delay + 0.25, lp);
        message *form = tw_event_data(first), *own = tw_event_data(second);
        form->amount = (double)cents;
        own->amount = delay;
        tw_event_send(first);
        tw_event_send(second);
        s->forms++;
    } else {
        send(lp, to, delay, delay * (double)cents, 1);
    }
}

static void teller_reverse(teller_state* s, tw_bf* bf, message* m, tw_lp* lp) {
    if (bf->c1) s->forms--;
    s->served--;
    s->balance += m->hops;
    if (bf->c0) s->largest = m->old_largest;
    tw_rand_reverse_unif(&lp->rng[1]);
    tw_rand_reverse_unif(lp->rng);
    tw_rand_reverse_unif(lp->rng);
}

static void teller_commit(teller_state* s, tw_bf* bf, message* m, tw_lp* lp) {
    (void)s;
    (void)lp;
    if (misuse == 20) tw_event_new(0, 1.0, lp);
    if (misuse == 21) tw_error(TW_LOC, "in commit");
    if (count_commits) committed += bf->c1 ? m->hops : 1;
}

static void teller_final(teller_state* s, tw_lp* lp) {
    if (misuse == 22) tw_lp_suspend(lp, 0, 7);
    (void)lp;
    total_balance += s->balance;
    total_served += s->served;
    total_forms += s->forms;
    if (s->largest > largest) largest = s->largest;
}

static void clerk_event(clerk_state* s, tw_bf* bf, message* m, tw_lp* lp) {
    (void)bf;
    (void)lp;
    s->stamps += (unsigned long)m->amount;
}

static void clerk_reverse(clerk_state* s, tw_bf* bf, message* m, tw_lp* lp) {
    (void)bf;
    (void)lp;
    s->stamps -= (unsigned long)m->amount;
}

static void clerk_final(clerk_state* s, tw_lp* lp) {
    (void)lp;
    total_stamps += s->stamps;
}

static tw_peid node_of(tw_lpid gid) { return gid / g_tw_nlp; }

static tw_lptype types[] = {
    {(init_f)teller_init, NULL, (event_f)teller_event, (revent_f)teller_reverse,
     (commit_f)teller_commit, (final_f)teller_final, node_of, sizeof(teller_state)},
    {NULL, NULL, (event_f)clerk_event, (revent_f)clerk_reverse, NULL, (final_f)clerk_final, node_of,
     sizeof(clerk_state)},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0}};

static tw_lpid type_of(tw_lpid gid) {
    if (misuse == 33) types[1].event = NULL;
    return misuse == 31 ? 7 : is_clerk(gid) ? 1 : 0;
}

/* The mapping is reversed: place 0 is the last LP of the node. */
static tw_lp* local_lp(tw_lpid gid) {
    return g_tw_lp[g_tw_nlp - 1 - (gid - g_tw_mynode * g_tw_nlp)];
}

static void place_lps(void) {
    for (tw_pe* pe = NULL; (pe = tw_pe_next(pe)) != NULL;)
        for (tw_kpid kp = 0; kp < g_tw_nkp; ++kp) tw_kp_onpe(kp, pe);
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) {
        tw_lp_onpe(i, g_tw_pe[0], g_tw_mynode * g_tw_nlp + g_tw_nlp - 1 - i);
        tw_lp_onkp(g_tw_lp[i], g_tw_kp[i % g_tw_nkp]);
    }
}

static const tw_optdef options[] = {
    TWOPT_GROUP("Bank"),
    TWOPT_UINT("tellers", tellers, "number of tellers"),
    TWOPT_UINT("clerks", clerks, "number of clerks: a third of the tellers"),
    TWOPT_DOUBLE("mean", mean, "mean time between customers"),
    TWOPT_UINT("misuse", misuse, "which rule to break"),
    TWOPT_FLAG("count-commits", count_commits, "count in commit handlers, with one worker"),
    TWOPT_FLAG("draw-before", draws_before, "draw a random number before the run, on one rank"),
    TWOPT_CHAR("label", label, "name of the run"),
    TWOPT_END()};

int main(int argc, char** argv) {
    tw_opt_add(options);
    tw_init(&argc, &argv);
    if (argc > 1) snprintf(label, sizeof label, "%s of %d", argv[1], argc - 1);
    g_tw_mapping = CUSTOM;
    g_tw_custom_initial_mapping = place_lps;
    g_tw_custom_lp_global_to_local_map = local_lp;
    g_tw_nRNG_per_lp = misuse == 30 ? 0 : 2;
    g_tw_lookahead = 0.125;
    misuse_bytes = offsetof(message, hops) + sizeof(unsigned int); /* without padding */
    tw_define_lps((tellers + clerks) / tw_nnodes(), misuse_bytes);
    if (misuse == 32) tw_define_lps(8, misuse_bytes);
    if (draws_before) tw_rand_unif(g_tw_lp[1]->rng);
    g_tw_lp_types = types;
    g_tw_lp_typemap = type_of;
    tw_lp_setup_types();
    tw_run();
    if (tw_nnodes() > 1) {
        unsigned long sums[3] = {total_served, total_forms, total_stamps}, own[3];
        long balance = total_balance;
        double most = largest;
        memcpy(own, sums, sizeof own);
        MPI_Allreduce(own, sums, 3, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&balance, &total_balance, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&most, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        total_served = sums[0];
        total_forms = sums[1];
        total_stamps = sums[2];
    }
    if (tw_ismaster())
        printf("%s: balance %ld, served %lu, forms %lu, stamps %lu, largest %.17g, commits %lu\n",
               label, total_balance, total_served, total_forms, total_stamps, largest, committed);
    tw_end();
    return 0;
}
