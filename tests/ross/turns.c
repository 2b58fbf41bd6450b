// SPDX-License-Identifier: Apache-2.0
/* Workshops in ROSS's style. Every event is at a whole hour. Priorities define the order of the
 * events of an hour: first orders, then work, and reports last, from any senders. An order may
 * cause work in the same hour. Prints a sum that depends on the order of all events, and the number
 * of events out of order. */
#include <ross.h>

enum { order, work, report, kinds };

typedef struct {
    uint64_t seen;
    tw_stime hour;
    int turn;
    unsigned out_of_turn;
    void const* shared; /* points to memory of main(), which a restarted run cannot find */
} workshop;

typedef struct {
    int kind;
    uint64_t word;
    workshop before;
    unsigned long drawn;
} message;

static unsigned int workshops = 24;
static unsigned int is_placed = 0;
static unsigned int misuse = 0;
static uint64_t sums[2];
static void* shared;

static void send(tw_lp* lp, tw_stime delay, int kind, uint64_t word) {
    static tw_stime const priority[kinds] = {0, 0.1234, 1};
    tw_lpid const to = (tw_lpid)tw_rand_integer(lp->rng, 0, (long)g_tw_total_lps - 1);
    tw_event* event = kind == report ? tw_event_new(to, delay, lp)
                                     : tw_event_new_user_prio(to, delay, lp, priority[kind]);
    message* m = (message*)tw_event_data(event);
    m->kind = kind;
    m->word = word;
    tw_event_send(event);
}

static void init(workshop* s, tw_lp* lp) {
    if (misuse == 4) s->shared = shared;
    for (int i = 0; i < 4; ++i) send(lp, 1, i % kinds, lp->gid * 8 + 2 * (uint64_t)i);
}

static void event(workshop* s, tw_bf* bf, message* m, tw_lp* lp) {
    (void)bf;
    unsigned long const before = lp->rng->count;
    m->before = *s;
    if (tw_now(lp) == s->hour && m->kind < s->turn) s->out_of_turn++;
    if (is_placed && g_tw_lp[lp->id] != lp) tw_error(TW_LOC, "not where the mapping has put it");
    s->hour = tw_now(lp);
    s->turn = m->kind;
    s->seen = s->seen * 6364136223846793005u + m->word;
    if (misuse == 1 && tw_now(lp) > 5) tw_event_new_user_prio(lp->gid, 1, lp, 1.5);
    if (misuse == 2 && tw_now(lp) > 5) tw_event_new_user_prio(lp->gid, 1, lp, 0.12345);
    if (m->word % 2 == 0) /* the event was not caused by an order */
        send(lp, 1 + (tw_stime)(s->seen % 2), (int)((s->seen >> 8) % kinds), s->seen >> 32 << 1);
    if (m->kind == order) send(lp, 0, work, s->seen >> 16 | 1);
    m->drawn = lp->rng->count - before;
}

static void reverse(workshop* s, tw_bf* bf, message* m, tw_lp* lp) {
    (void)bf;
    for (unsigned long i = 0; i < m->drawn; ++i) tw_rand_reverse_unif(lp->rng);
    *s = m->before;
}

static void add(workshop const* s, tw_lp const* lp) {
    sums[0] += s->seen * (2 * lp->gid + 1);
    sums[1] += s->out_of_turn;
}

/* In one process, main() can still read the states after the run. */
static void final(workshop* s, tw_lp* lp) {
    if (tw_nnodes() > 1) add(s, lp);
}

static tw_peid node_of(tw_lpid gid) { return gid / g_tw_nlp; }

static void no_init(void* s, tw_lp* lp) {
    (void)s;
    (void)lp;
}

/* No LP has the first type, and no event is sent to such an LP. */
static tw_lptype types[] = {{no_init, NULL, NULL, NULL, NULL, NULL, node_of, 8},
                            {(init_f)init, NULL, (event_f)event, (revent_f)reverse, NULL,
                             (final_f) final, node_of, sizeof(workshop)},
                            {NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0}};

static tw_lpid type_of(tw_lpid gid) {
    (void)gid;
    return 1;
}

static const tw_optdef options[] = {
    TWOPT_GROUP("Turns"), TWOPT_UINT("workshops", workshops, "number of LPs"),
    TWOPT_FLAG("placed", is_placed, "each LP is on the PE of its mapping, and checks this"),
    TWOPT_UINT("misuse", misuse, "which rule to break"), TWOPT_END()};

int main(int argc, char** argv) {
    int const starts_mpi = getenv("TURNS_STARTS_MPI") != NULL;
    if (starts_mpi) MPI_Init(&argc, &argv);
    if (starts_mpi) tw_comm_set(MPI_COMM_WORLD);
    tw_opt_add(options);
    tw_init(&argc, &argv);
    shared = malloc(4096);
    if (misuse == 3 && g_tw_mynode == 1) tw_error(TW_LOC, "only this one");
    tw_define_lps(workshops / tw_nnodes(), sizeof(message));
    g_tw_lp_types = types;
    g_tw_lp_typemap = type_of;
    tw_lp_setup_types();
    tw_run();
    if (tw_nnodes() == 1) {
        for (tw_lpid i = 0; i < g_tw_nlp; ++i)
            add((workshop const*)tw_getstate(g_tw_lp[i]), g_tw_lp[i]);
    } else {
        uint64_t own[2] = {sums[0], sums[1]};
        MPI_Allreduce(own, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    if (tw_ismaster())
        printf("sum %016lx, %lu out of turn\n", (unsigned long)sums[0], (unsigned long)sums[1]);
    free(shared);
    tw_end();
    if (starts_mpi) MPI_Finalize();
    return 0;
}
