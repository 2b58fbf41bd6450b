/* The interface that models for ROOT-Sim 3 are written against, for models in C and C++: names, types and
 * values are ROOT-Sim's, what stands behind them is numawarp. docs/rootsim.md says how a model is built
 * with it, and where it differs.
 *
 * ROOT-Sim's own libraries of random numbers and topologies were part of this header before 3.0.0: a
 * program that links numawarp::rootsim_libraries has them here again. Those that came after it, whose random
 * numbers are drawn from streams of the model's own, are <ROOT-Sim/random.h> and <ROOT-Sim/topology.h>. */
#pragma once

#include <float.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef double simtime_t;
typedef uint64_t lp_id_t;

#define SIMTIME_MAX DBL_MAX

/* What an LP is told besides the model's own events: at the beginning, with no state yet, and when the
 * run is over. */
enum rootsim_event { LP_INIT = 65534, LP_FINI };

/* One event of LP `me`. It may be executed too early and undone, with all that the LP keeps in memory,
 * whether it is from rs_malloc() or from malloc(). */
typedef void (*ProcessEvent_t)(lp_id_t me, simtime_t now, unsigned event_type,
                               const void *event_content, unsigned event_size, void *st);

/* Whether this LP would let the run end. The run ends exactly after the event by which the last LP has
 * said so for the first time. */
typedef bool (*CanEnd_t)(lp_id_t me, const void *snapshot);

enum log_level { LOG_TRACE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_FATAL, LOG_SILENT };

enum synchronization_algorithm { SERIAL = 1, TIME_WARP };

/* What is said to mean nothing is read by nobody: numawarp has options of its own for it. */
struct simulation_configuration {
    lp_id_t lps;
    unsigned n_threads;         /* --workers; 0: one a core */
    simtime_t termination_time; /* --until; 0: none */
    unsigned gvt_period;        /* means nothing */
    enum log_level log_level;   /* LOG_SILENT: --quiet; the others are alike */
    FILE *logfile;              /* means nothing */
    const char *stats_file;     /* --stats, with .json behind it; NULL: none */
    unsigned ckpt_interval;     /* means nothing */
    uint64_t prng_seed;         /* --prng-seed, of the library of random numbers */
    bool core_binding;          /* --pin */
    bool serial;                /* --engine sequential */
    ProcessEvent_t dispatcher;
    CanEnd_t committed;
    /* Came after 3.0.0. Where it is not 0, `serial` means nothing. */
    enum synchronization_algorithm synchronization;
};

/* 0, or -1 after a line on standard error. */
extern int RootsimInit(const struct simulation_configuration *conf);
/* The whole run: the exit code that the program should end with, or -1 without a configuration. */
extern int RootsimRun(void);
/* Ends the run soon, from any thread of the program but not from a handler or CanEnd. Where there is no run,
 * nothing. */
extern void RootsimStop(void);

/* In a handler only. The event's time is `timestamp`, to the bit. */
extern void ScheduleNewEvent(lp_id_t receiver, simtime_t timestamp, unsigned event_type,
                             const void *event_content, unsigned event_size);
extern void SetState(void *new_state);

extern void *rs_malloc(size_t req_size);
extern void *rs_calloc(size_t nmemb, size_t size);
extern void rs_free(void *ptr);
extern void *rs_realloc(void *ptr, size_t req_size);

#ifdef __cplusplus
}
#endif

#ifdef NUMAWARP_ROOTSIM_LIBRARIES
#include <rootsim/random.h>
#include <rootsim/topology.h>
#endif
