// SPDX-License-Identifier: Apache-2.0
/* Shelves in ROSS's style, whose reverse handlers use differences: tw_snapshot_delta() stores the
 * changes that an event handler makes to a state of 988 bytes, and tw_snapshot_restore() reverses
 * them. A tenth of the events change nothing and store nothing. Prints a sum over the bytes of all
 * shelves. */
#include <ross.h>

enum { places = 240 };

typedef struct {
    double moved; /* a rounded sum, which subtraction cannot restore */
    uint32_t things[places];
    unsigned char last[20];
} shelf;

typedef struct {
    uint32_t thing;
    uint32_t drawn;     /* count of drawn random numbers, for the reverse handler */
    int64_t difference; /* bytes of the difference, which are part of the digest here */
} message;

static unsigned int shelves = 32;
static unsigned int misuse = 0;
static uint64_t sum = 0;
static size_t const state_bytes = offsetof(shelf, last) + sizeof(((shelf*)0)->last);

static void send(tw_lp* lp, uint32_t thing) {
    tw_lpid const to = (tw_lpid)tw_rand_integer(lp->rng, 0, (long)g_tw_total_lps - 1);
    tw_event* event = tw_event_new(to, 0.125 + tw_rand_exponential(lp->rng, 1.0), lp);
    ((message*)tw_event_data(event))->thing = thing;
    tw_event_send(event);
}

static void init(shelf* s, tw_lp* lp) {
    s->moved = 0.1;
    for (int i = 0; i < 2; ++i) send(lp, (uint32_t)lp->gid * 2654435761u);
}

static void misuse_in_event(tw_lp* lp, size_t bytes) {
    switch (misuse) {
        case 1:
            tw_snapshot_delta(lp, bytes);
            break;
        case 2:
            tw_snapshot(lp, bytes + 1);
            break;
        case 3:
            tw_snapshot(lp, bytes);
            tw_snapshot_delta(lp, bytes - 1);
            break;
        case 4:
            tw_snapshot_restore(lp, bytes);
            break;
        case 5: {
            tw_lp other = *lp;
            other.gid = (lp->gid + 1) % g_tw_total_lps;
            tw_snapshot(&other, bytes);
            break;
        }
        default:
            break;
    }
}

static void event(shelf* s, tw_bf* bf, message* m, tw_lp* lp) {
    uint32_t const thing = m->thing;
    unsigned long const before = lp->rng->count;
    if (tw_now(lp) > 5) misuse_in_event(lp, state_bytes);
    if (thing % 10 != 0) {
        bf->c0 = 1;
        tw_snapshot(lp, state_bytes);
        if (thing % 7 == 0) { /* the last call of tw_snapshot() replaces the first */
            s->things[1]++;
            tw_snapshot_delta(lp, state_bytes);
            s->things[1]--;
            tw_snapshot(lp, state_bytes);
        }
        s->moved += tw_now(lp) / 3;
        long const count = tw_rand_integer(lp->rng, 1, 40);
        for (long i = 0; i < count; ++i)
            s->things[tw_rand_integer(lp->rng, 0, places - 1)] ^= thing + (uint32_t)i;
        s->last[thing % sizeof s->last]++;
        m->difference = tw_snapshot_delta(lp, state_bytes);
    }
    send(lp, thing * 1664525u + 1013904223u);
    m->drawn = (uint32_t)(lp->rng->count - before);
}

static void reverse(shelf* s, tw_bf* bf, message* m, tw_lp* lp) {
    (void)s;
    if (misuse == 6 && bf->c0) tw_snapshot_restore(lp, state_bytes - 8);
    if (misuse == 7 || bf->c0) tw_snapshot_restore(lp, state_bytes);
    for (uint32_t i = 0; i < m->drawn; ++i) tw_rand_reverse_unif(lp->rng);
}

static void final(shelf* s, tw_lp* lp) {
    unsigned char const* bytes = (unsigned char const*)s;
    uint64_t own = lp->gid;
    for (size_t i = 0; i < state_bytes; ++i) own = own * 31 + bytes[i];
    sum += own;
}

static tw_peid node_of(tw_lpid gid) { return gid / g_tw_nlp; }

static tw_lptype type = {
    (init_f)init, NULL, (event_f)event, (revent_f)reverse, NULL, (final_f) final, node_of, 0};

static const tw_optdef options[] = {
    TWOPT_GROUP("Shelves"), TWOPT_UINT("shelves", shelves, "number of LPs"),
    TWOPT_UINT("misuse", misuse, "which rule to break"), TWOPT_END()};

int main(int argc, char** argv) {
    tw_opt_add(options);
    tw_init(&argc, &argv);
    g_tw_lookahead = 0.125;
    type.state_sz = state_bytes;
    tw_define_lps(shelves / tw_nnodes(), sizeof(message));
    for (tw_lpid i = 0; i < g_tw_nlp; ++i) tw_lp_settype(i, &type);
    tw_run();
    if (tw_nnodes() > 1) {
        uint64_t own = sum;
        MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    if (tw_ismaster()) printf("sum %016lx\n", (unsigned long)sum);
    tw_end();
    return 0;
}
