// SPDX-License-Identifier: Apache-2.0
/* The header for models written for ROSS (Rensselaer's Optimistic Simulation System, version 8), in
 * C or C++. The models compile without a change and run on numawarp's engines. docs/ross.md
 * describes the differences and the missing features.
 *
 * The names, types and constants are those of ROSS. Their implementation is in src/compat/ross/. */
#ifndef NUMAWARP_ROSS_H
#define NUMAWARP_ROSS_H

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1 /* the C++ part of mpi.h does not compile in an extern "C" */
#endif
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Names and numbers ------------------------------------------------------------------------ */

typedef unsigned long tw_peid;
typedef tw_peid tw_kpid;
typedef uint64_t tw_lpid;
typedef double tw_stime;
typedef unsigned int tw_eventid;
typedef unsigned long long tw_stat;
typedef unsigned long long tw_clock;
typedef struct timeval tw_wtime;
typedef long tw_node;

#define MPI_TYPE_TW_STIME MPI_DOUBLE
#define TW_STIME_CRT(x) (x)
#define TW_STIME_DBL(x) (x)
#define TW_STIME_CMP(x, y) (((x) < (y)) ? -1 : ((x) > (y)))
#define TW_STIME_ADD(x, y) ((x) + (y))
#define TW_STIME_MAX DBL_MAX
#define ROSS_MAX(a, b) ((a) > (b) ? (a) : (b))
#define ROSS_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TW_LOC __FILE__, __LINE__
#define NORETURN __attribute__((__noreturn__))

typedef enum tw_synch_e {
    NO_SYNCH,
    SEQUENTIAL,
    CONSERVATIVE,
    OPTIMISTIC,
    OPTIMISTIC_DEBUG,
    OPTIMISTIC_REALTIME,
    SEQUENTIAL_ROLLBACK_CHECK
} tw_synch;

typedef enum tw_lp_map { LINEAR, ROUND_ROBIN, CUSTOM } tw_lp_map;

typedef struct tw_bf {
    unsigned int c0 : 1, c1 : 1, c2 : 1, c3 : 1, c4 : 1, c5 : 1, c6 : 1, c7 : 1;
    unsigned int c8 : 1, c9 : 1, c10 : 1, c11 : 1, c12 : 1, c13 : 1, c14 : 1, c15 : 1;
    unsigned int c16 : 1, c17 : 1, c18 : 1, c19 : 1, c20 : 1, c21 : 1, c22 : 1, c23 : 1;
    unsigned int c24 : 1, c25 : 1, c26 : 1, c27 : 1, c28 : 1, c29 : 1, c30 : 1, c31 : 1;
} tw_bf;

/* --- Random numbers --------------------------------------------------------------------------- */

typedef int32_t *tw_seed;

/* One stream of CLCG4. Cg is its current state, and Ig its first state. */
typedef struct tw_rng_stream {
    unsigned long count;
    int32_t Ig[4];
    int32_t Cg[4];
    double tw_normal_u1;
    double tw_normal_u2;
    int tw_normal_flipflop;
} tw_rng_stream;

/* The generator of all streams. It has no state. */
typedef struct tw_rng {
    int nothing;
} tw_rng;

#define tw_opi 6.28318530718
#define tw_rand_unif(G) rng_gen_val(G)
#define tw_rand_reverse_unif(G) rng_gen_reverse_val(G)

double rng_gen_val(tw_rng_stream *g);
double rng_gen_reverse_val(tw_rng_stream *g);
void rng_set_seed(tw_rng_stream *g, uint32_t *s, tw_rng *unused);
void rng_get_state(tw_rng_stream *g, uint32_t *s);
void rng_put_state(tw_rng_stream *g, uint32_t *s);
void rng_write_state(tw_rng_stream *g, FILE *f);
void tw_rand_initial_seed(tw_rng_stream *g, tw_lpid id, tw_rng *unused);
long tw_rand_integer(tw_rng_stream *g, long low, long high);
unsigned long tw_rand_ulong(tw_rng_stream *g, unsigned long low, unsigned long high);
long tw_rand_binomial(tw_rng_stream *g, long N, double P);
double tw_rand_exponential(tw_rng_stream *g, double Lambda);
double tw_rand_pareto(tw_rng_stream *g, double shape, double scale);
double tw_rand_gamma(tw_rng_stream *g, double shape, double scale);
long tw_rand_geometric(tw_rng_stream *g, double P);
double tw_rand_normal01(tw_rng_stream *g, unsigned int *rng_calls);
double tw_rand_normal_sd(tw_rng_stream *g, double Mu, double Sd, unsigned int *rng_calls);
double tw_rand_lognormal(tw_rng_stream *g, double mean, double sd, unsigned int *rng_calls);
long tw_rand_poisson(tw_rng_stream *g, double Lambda);
double tw_rand_weibull(tw_rng_stream *g, double mean, double shape);

/* --- LPs, KPs and PEs ------------------------------------------------------------------------- */

typedef struct tw_lptype tw_lptype;
typedef struct tw_event tw_event;
typedef struct tw_lp tw_lp;
typedef struct tw_kp tw_kp;
typedef struct tw_pe tw_pe;

typedef void (*pe_init_f)(tw_pe *pe);
typedef void (*pe_gvt_f)(tw_pe *pe);
typedef void (*pe_final_f)(tw_pe *pe);
typedef void (*init_f)(void *sv, tw_lp *me);
typedef tw_peid (*map_f)(tw_lpid);
typedef tw_lp *(*map_local_f)(tw_lpid);
typedef void (*map_custom_f)(void);
typedef void (*pre_run_f)(void *sv, tw_lp *me);
typedef void (*event_f)(void *sv, tw_bf *cv, void *msg, tw_lp *me);
typedef void (*revent_f)(void *sv, tw_bf *cv, void *msg, tw_lp *me);
typedef void (*commit_f)(void *sv, tw_bf *cv, void *msg, tw_lp *me);
typedef void (*final_f)(void *sv, tw_lp *me);
typedef tw_lpid (*tw_typemap_f)(tw_lpid gid);

struct tw_lptype {
    init_f init;
    pre_run_f pre_run;
    event_f event;
    revent_f revent;
    commit_f commit;
    final_f final;
    map_f map; /* never called: tw_lp_onpe() determines where an LP is */
    size_t state_sz;
};

struct tw_lp {
    tw_lpid id;  /* index in g_tw_lp */
    tw_lpid gid; /* number among the LPs of all ranks */
    tw_pe *pe;
    tw_kp *kp;
    void *cur_state;
    tw_lptype *type;
    tw_rng_stream *rng;
    struct st_model_types *model_types; /* the model may set it; numawarp does not read it */
};

/* Marks internal names of ROSS. Libraries use such names in parts that most runs do not need (CODES
 * uses them for its surrogates). They have no function here: the compiler warns about each use, and
 * a call ends the run with one line. */
#define NUMAWARP_ROSS_INSIDE \
    __attribute__((deprecated("numawarp does not implement this name: docs/ross.md")))

/* The time of an event. In ROSS this structure also has numbers that order simultaneous events. */
typedef struct tw_event_sig {
    tw_stime recv_ts;
} tw_event_sig;

struct tw_kp {
    tw_kpid id;
    tw_pe *pe;
    int lp_count;
    NUMAWARP_ROSS_INSIDE tw_stime last_time; /* always NaN */
};

struct tw_pe {
    tw_peid id;
    tw_rng *rng;
    tw_stime GVT; /* the last value that this rank has received; increases only in Time Warp */
    tw_event_sig GVT_sig;
    NUMAWARP_ROSS_INSIDE struct tw_pq *pq;
    NUMAWARP_ROSS_INSIDE void *hash_t;
    NUMAWARP_ROSS_INSIDE unsigned avl_tree_size;
    NUMAWARP_ROSS_INSIDE tw_event *cur_event;
    NUMAWARP_ROSS_INSIDE tw_event *abort_event;
};

struct tw_event {
    NUMAWARP_ROSS_INSIDE tw_event *prev;
    NUMAWARP_ROSS_INSIDE tw_event *caused_by_me;
    NUMAWARP_ROSS_INSIDE tw_lp *dest_lp;
    NUMAWARP_ROSS_INSIDE tw_peid send_pe;
    NUMAWARP_ROSS_INSIDE tw_eventid event_id;
    NUMAWARP_ROSS_INSIDE struct {
        unsigned char remote;
    } state;
    tw_lp *src_lp;
    tw_lpid dest_lpid;
    tw_stime recv_ts;
    tw_stime offset_ts;
    unsigned numawarp_ahead; /* (1 - priority) * 10000; 0 for an event without a priority */
};

extern tw_synch g_tw_synchronization_protocol;
extern map_local_f g_tw_custom_lp_global_to_local_map;
extern map_custom_f g_tw_custom_initial_mapping;
extern tw_lp_map g_tw_mapping;
extern tw_lpid g_tw_nlp;
extern tw_lpid g_tw_total_lps;
extern tw_lpid g_tw_lp_offset;
extern tw_kpid g_tw_nkp;
extern tw_lp **g_tw_lp;
extern tw_kp **g_tw_kp;
extern tw_pe *g_tw_pe;
extern tw_lptype *g_tw_lp_types;
extern tw_typemap_f g_tw_lp_typemap;
extern unsigned int g_tw_nRNG_per_lp;
extern tw_lpid g_tw_rng_default;
extern tw_seed g_tw_rng_seed;
extern double g_tw_ts_end;
extern double g_tw_lookahead;
extern size_t g_tw_msg_sz;
extern tw_peid g_tw_mynode;
extern tw_peid g_tw_masternode;

/* Models may read and write these variables. They have no effect. */
extern unsigned int g_tw_npe; /* always 1 */
extern unsigned int g_tw_mblock;
extern unsigned int g_tw_gvt_interval;
extern unsigned int g_tw_events_per_pe;
extern unsigned int g_tw_events_per_pe_extra;
extern unsigned int g_tw_memory_nqueues;
extern unsigned long long g_tw_max_opt_lookahead;
extern unsigned long long g_tw_clock_rate;

/* Data about the handler that this thread executes, for the inline functions below. */
typedef struct numawarp_ross_call {
    tw_stime now;
    uintptr_t next; /* address of the next event; UINTPTR_MAX: this handler may not create events */
    uintptr_t end;  /* address at which the memory that is ready for events ends */
    size_t stride;  /* bytes from one event to the next */
    size_t before;  /* bytes of a message before its last word */
    uint64_t last;  /* the last word of an empty message */
} numawarp_ross_call;
extern __thread numawarp_ross_call *numawarp_ross_this_call;

void tw_init(int *argc, char ***argv);
void tw_define_lps(tw_lpid nlp, size_t msg_sz);
void tw_run(void);
void tw_end(void);
void tw_lp_settype(tw_lpid lp, tw_lptype *type);
void tw_lp_setup_types(void);
tw_lpid map_onetype(tw_lpid gid);
void tw_lp_onpe(tw_lpid id, tw_pe *pe, tw_lpid gid);
void tw_lp_onkp(tw_lp *lp, tw_kp *kp);
void tw_kp_onpe(tw_kpid id, tw_pe *pe);
tw_kp *tw_getkp(tw_kpid id);
tw_lp *tw_getlp(tw_lpid id);
tw_lp *tw_getlocal_lp(tw_lpid gid);
void tw_lp_suspend(tw_lp *lp, int do_orig_event_rc, int error_num);
void tw_rand_init_streams(tw_lp *lp, unsigned int nstreams, unsigned int n_core_streams);
unsigned tw_nnodes(void);

static inline int tw_ismaster(void) { return g_tw_mynode == g_tw_masternode; }
static inline void *tw_getstate(tw_lp *lp) { return lp->cur_state; }
static inline tw_pe *tw_getpe(tw_peid id) { return id == 0 ? g_tw_pe : NULL; }
static inline tw_pe *tw_pe_next(tw_pe *last) { return last == NULL ? g_tw_pe : NULL; }
static inline tw_stime tw_now(tw_lp const *lp) {
    (void)lp;
    return numawarp_ross_this_call->now;
}

/* --- Events ----------------------------------------------------------------------------------- */

void tw_event_send(tw_event *event);
static inline void *tw_event_data(tw_event *event) { return event + 1; }

/* Makes memory for one more event ready. Refuses the call if the handler may not create events. */
void numawarp_ross_make_room(void);
static inline tw_event *tw_event_new(tw_lpid dest_gid, tw_stime offset_ts, tw_lp *sender) {
    numawarp_ross_call *const call = numawarp_ross_this_call;
    if (__builtin_expect(call->next >= call->end, 0)) numawarp_ross_make_room();
    tw_event *const event = (tw_event *)call->next;
    char *const message = (char *)(event + 1);
    call->next += call->stride;
    event->src_lp = sender;
    event->dest_lpid = dest_gid;
    event->recv_ts = call->now + offset_ts;
    event->offset_ts = offset_ts;
    event->numawarp_ahead = 0;
    memcpy(message + call->before, &call->last, sizeof call->last);
    if (call->before != 0) memset(message, 0, call->before);
    return event;
}

/* Creates an event with a priority from 0 to 1, in steps of 0.0001. Of events at the same time,
 * those with smaller priorities come first, but no event comes before its cause. Events of
 * tw_event_new() have priority 1. */
tw_event *tw_event_new_user_prio(tw_lpid dest_gid, tw_stime offset_ts, tw_lp *sender, tw_stime prio);

/* --- Internal names of ROSS: see NUMAWARP_ROSS_INSIDE ----------------------------------------- */

typedef struct tw_pq tw_pq;
extern unsigned int g_tw_gvt_done; /* number of GVT values that this rank has received */
extern void (*g_tw_gvt_hook)(tw_pe *pe, bool past_end_time);
NUMAWARP_ROSS_INSIDE void tw_trigger_gvt_hook_at(tw_stime time);
NUMAWARP_ROSS_INSIDE void tw_trigger_gvt_hook_every(int num_gvt_calls);
NUMAWARP_ROSS_INSIDE void tw_trigger_gvt_hook_when_model_calls(void);
NUMAWARP_ROSS_INSIDE void tw_trigger_gvt_hook_now(tw_lp *lp);
NUMAWARP_ROSS_INSIDE void tw_trigger_gvt_hook_now_rev(tw_lp *lp);
NUMAWARP_ROSS_INSIDE tw_event *tw_pq_dequeue(tw_pq *queue);
NUMAWARP_ROSS_INSIDE void tw_pq_enqueue(tw_pq *queue, tw_event *event);
NUMAWARP_ROSS_INSIDE void tw_hash_insert(void *hash, tw_event *event, tw_peid pe);
NUMAWARP_ROSS_INSIDE tw_event *tw_hash_remove(void *hash, tw_event *event, tw_peid pe);
NUMAWARP_ROSS_INSIDE void tw_event_free(tw_pe *pe, tw_event *event);
NUMAWARP_ROSS_INSIDE void tw_scheduler_rollback_and_cancel_events_pe(tw_pe *pe);

/* --- Reverse handlers with differences -----------------------------------------------------------
 * An event handler calls tw_snapshot() first and tw_snapshot_delta() last. tw_snapshot_delta()
 * keeps the old values of the changed bytes, and returns the size of the kept data. The reverse
 * handler calls tw_snapshot_restore(), which restores the state. */

void tw_snapshot(tw_lp *lp, size_t state_sz);
long tw_snapshot_delta(tw_lp *lp, size_t state_sz);
void tw_snapshot_restore(tw_lp *lp, size_t state_sz);

/* --- Options ---------------------------------------------------------------------------------- */

typedef enum tw_opttype {
    TWOPTTYPE_GROUP = 1,
    TWOPTTYPE_ULONG,
    TWOPTTYPE_ULONGLONG,
    TWOPTTYPE_UINT,
    TWOPTTYPE_STIME,
    TWOPTTYPE_DOUBLE,
    TWOPTTYPE_CHAR,
    TWOPTTYPE_FLAG
} tw_opttype;

typedef struct tw_optdef {
    tw_opttype type;
    const char *name;
    const char *help;
    void *value;
} tw_optdef;

#define TWOPT_GROUP(h) { TWOPTTYPE_GROUP, NULL, (h), NULL }
#define TWOPT_ULONG(n, v, h) { TWOPTTYPE_ULONG, (n), (h), &(v) }
#define TWOPT_ULONGLONG(n, v, h) { TWOPTTYPE_ULONGLONG, (n), (h), &(v) }
#define TWOPT_UINT(n, v, h) { TWOPTTYPE_UINT, (n), (h), &(v) }
#define TWOPT_STIME(n, v, h) { TWOPTTYPE_STIME, (n), (h), &(v) }
#define TWOPT_DOUBLE(n, v, h) { TWOPTTYPE_DOUBLE, (n), (h), &(v) }
#define TWOPT_CHAR(n, v, h) { TWOPTTYPE_CHAR, (n), (h), &(v) }
#define TWOPT_FLAG(n, v, h) { TWOPTTYPE_FLAG, (n), (h), &(v) }
#define TWOPT_END() { (tw_opttype)0, NULL, NULL, NULL }

void tw_opt_add(const tw_optdef *options);

/* --- Helpers ---------------------------------------------------------------------------------- */

void tw_error(const char *file, int line, const char *fmt, ...) NORETURN
    __attribute__((__format__(__printf__, 3, 4)));
void tw_warning(const char *file, int line, const char *fmt, ...);
void tw_printf(const char *file, int line, const char *fmt, ...);
int tw_output(tw_lp *lp, const char *fmt, ...);
void *tw_calloc(const char *file, int line, const char *for_who, size_t e_sz, size_t n);
void tw_wall_now(tw_wtime *t);
void tw_wall_sub(tw_wtime *r, tw_wtime *a, tw_wtime *b);
double tw_wall_to_double(tw_wtime *t);
tw_clock tw_clock_read(void);

/* Prints the bytes as hexadecimal numbers and as text, 16 bytes per line. */
void tw_fprint_binary_array(FILE *output, char const *prefix, void const *array, size_t size);

/* Always MPI_COMM_WORLD. A model may use MPI to gather its results. tw_init() starts MPI if a
 * launcher has started the program; otherwise the model's first call of MPI starts it. */
extern MPI_Comm MPI_COMM_ROSS;
void tw_comm_set(MPI_Comm comm);

/* --- Accepted and not used -----------------------------------------------------------------------
 * With these types and functions ROSS samples models and compares states. numawarp refuses the
 * options that would do so. */

typedef void (*ev_trace_f)(void *msg, tw_lp *lp, char *buffer, int *collect_flag);
typedef void (*model_stat_f)(void *sv, tw_lp *lp, char *buffer);
typedef void (*sample_event_f)(void *state, tw_bf *b, tw_lp *lp, void *sample);
typedef void (*sample_revent_f)(void *state, tw_bf *b, tw_lp *lp, void *sample);

typedef struct st_model_types {
    ev_trace_f ev_trace;
    size_t ev_sz;
    model_stat_f model_stat_fn;
    size_t mstat_sz;
    sample_event_f sample_event_fn;
    sample_revent_f sample_revent_fn;
    size_t sample_struct_sz;
} st_model_types;

static inline void st_model_settype(tw_lpid i, st_model_types *types) {
    (void)i;
    (void)types;
}

/* Values of options that do not exist here: always 0. */
extern int g_st_ev_trace;
extern int g_st_model_stats;
extern int g_st_use_analysis_lps;

typedef void (*save_checkpoint_state_f)(void *into, void const *from);
typedef void (*clean_checkpoint_state_f)(void *state);
typedef bool (*check_states_f)(void *current_state, void const *before_state);
typedef void (*print_lpstate_f)(FILE *, char const *prefix, void *state);
typedef void (*print_checkpoint_state_f)(FILE *, char const *prefix, void *state);
typedef void (*print_event_f)(FILE *, char const *prefix, void *lp_state, void *event_msg);

typedef struct crv_checkpointer {
    tw_lptype *lptype;
    size_t sz_storage;
    save_checkpoint_state_f save_lp;
    clean_checkpoint_state_f clean_lp;
    check_states_f check_lps;
    print_lpstate_f print_lp;
    print_checkpoint_state_f print_checkpoint;
    print_event_f print_event;
} crv_checkpointer;

static inline void crv_add_custom_state_checkpoint(crv_checkpointer *checkpointer) {
    (void)checkpointer;
}

/* --- Missing features ----------------------------------------------------------------------------
 * The use of one of these names is a compile error that names an alternative. */

#ifdef __has_attribute
#if __has_attribute(unavailable)
#define NUMAWARP_ROSS_NOT_THERE(what) __attribute__((unavailable(what)))
#define NUMAWARP_ROSS_NO_TYPE(what) __attribute__((unavailable(what)))
#endif
#endif
#ifndef NUMAWARP_ROSS_NOT_THERE /* before GCC 12: only calls are errors */
#define NUMAWARP_ROSS_NOT_THERE(what) __attribute__((error(what)))
#define NUMAWARP_ROSS_NO_TYPE(what)
#endif

/* Accepts any arguments, because they differ between versions of ROSS. */
#define NUMAWARP_ROSS_NONE_OF(what, result, name) \
    NUMAWARP_ROSS_NOT_THERE(what) result name(void const *first, ...)

NUMAWARP_ROSS_NOT_THERE("numawarp cannot cancel a sent event: docs/ross.md")
void tw_event_rescind(tw_event *event);

#define NUMAWARP_ROSS_BUFFERS                                                              \
    "numawarp has no memory buffers of ROSS: use malloc() and free() in handlers, which "  \
    "--rollback snapshot rolls back, or keep the data in state and messages: docs/ross.md"
typedef struct numawarp_ross_no_memory tw_memory NUMAWARP_ROSS_NO_TYPE(NUMAWARP_ROSS_BUFFERS);
typedef struct numawarp_ross_no_memoryq tw_memoryq NUMAWARP_ROSS_NO_TYPE(NUMAWARP_ROSS_BUFFERS);
typedef int tw_fd NUMAWARP_ROSS_NO_TYPE(NUMAWARP_ROSS_BUFFERS);
NUMAWARP_ROSS_NOT_THERE(NUMAWARP_ROSS_BUFFERS)
int tw_memory_init(size_t n_mem, size_t d_sz, double mult, ...);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, int, tw_kp_memory_init);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, int, tw_pe_memory_init);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void *, tw_memory_alloc);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void, tw_memory_alloc_rc);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, size_t, tw_memory_allocate);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void *, tw_memory_data);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void, tw_memory_free);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void *, tw_memory_free_rc);
NUMAWARP_ROSS_NOT_THERE(NUMAWARP_ROSS_BUFFERS) void *tw_memoryq_init(void);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void, tw_memoryq_push);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void *, tw_memoryq_pop);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void *, tw_event_memory_get);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void, tw_event_memory_get_rc);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_BUFFERS, void, tw_event_memory_set);

#define NUMAWARP_ROSS_TIMERS                                                                \
    "numawarp has no timers of ROSS: send an event, and let its handler check whether it "  \
    "is still needed: docs/ross.md"
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_TIMERS, tw_event *, tw_timer_init);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_TIMERS, void, tw_timer_reset);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_TIMERS, void, tw_timer_cancel);

#define NUMAWARP_ROSS_PE_TYPES \
    "numawarp calls no functions of PEs: use the functions init and final of the LPs: docs/ross.md"
typedef struct numawarp_ross_petype {
    pe_init_f pre_lp_init;
    pe_init_f post_lp_init;
    pe_gvt_f gvt;
    pe_final_f final;
} tw_petype NUMAWARP_ROSS_NO_TYPE(NUMAWARP_ROSS_PE_TYPES);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_PE_TYPES, void, tw_pe_settype);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_PE_TYPES, void *, tw_pe_data);

#define NUMAWARP_ROSS_NODES \
    "numawarp identifies a node by its number, like ROSS since version 5 (g_tw_mynode): " \
    "docs/ross.md"
NUMAWARP_ROSS_NOT_THERE(NUMAWARP_ROSS_NODES) tw_node *tw_net_onnode(tw_peid id);
NUMAWARP_ROSS_NONE_OF(NUMAWARP_ROSS_NODES, int, tw_node_eq);

/* Before version 7.2 of ROSS, g_tw_pe was a table of pointers to PEs, and mappings pass
 * `g_tw_pe[0]`. Here this expression is the PE itself. tw_lp_onpe() and tw_kp_onpe() therefore
 * accept both a PE and a pointer to a PE. */
#ifdef __cplusplus
}
extern "C++" { /* needed if a model includes this header within its own extern "C" */
inline void tw_lp_onpe(tw_lpid id, tw_pe const &, tw_lpid gid) { tw_lp_onpe(id, g_tw_pe, gid); }
inline void tw_kp_onpe(tw_kpid id, tw_pe const &) { tw_kp_onpe(id, g_tw_pe); }
}
#else
static inline void numawarp_ross_lp_on(tw_lpid id, tw_pe pe, tw_lpid gid) {
    (void)pe;
    tw_lp_onpe(id, g_tw_pe, gid);
}
static inline void numawarp_ross_kp_on(tw_kpid id, tw_pe pe) {
    (void)pe;
    tw_kp_onpe(id, g_tw_pe);
}
#define tw_lp_onpe(id, pe, gid) \
    (__extension__ _Generic((pe), tw_pe: numawarp_ross_lp_on, default: tw_lp_onpe)(id, pe, gid))
#define tw_kp_onpe(id, pe) \
    (__extension__ _Generic((pe), tw_pe: numawarp_ross_kp_on, default: tw_kp_onpe)(id, pe))
#endif

#endif
