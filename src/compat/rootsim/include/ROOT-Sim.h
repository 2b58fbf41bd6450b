// SPDX-License-Identifier: Apache-2.0
/* The interface of ROOT-Sim 3 for models in C and C++. The names, types and values are those of
 * ROOT-Sim, and numawarp implements them. docs/rootsim.md describes how a model is built, and the
 * differences.
 *
 * Before version 3.0.0, ROOT-Sim's libraries of random numbers and topologies were part of this
 * header. A program that links numawarp::rootsim_libraries gets them from this header. The
 * libraries after 3.0.0 draw from streams that the model stores; their headers are
 * <ROOT-Sim/random.h> and <ROOT-Sim/topology.h>. */
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

/* Types of the events that an LP receives from the engine: at the beginning, when the LP has no
 * state, and at the end of the run. */
enum rootsim_event { LP_INIT = 65534, LP_FINI };

/* Executes one event of LP `me`. The event may be undone later. The rollback then also restores the
 * LP's memory, whether it is from rs_malloc() or from malloc(). */
typedef void (*ProcessEvent_t)(lp_id_t me, simtime_t now, unsigned event_type,
                               const void *event_content, unsigned event_size, void *st);

/* Returns whether this LP allows the run to end. The run ends when every LP has returned true at
 * least once, exactly after the event that made this condition true. */
typedef bool (*CanEnd_t)(lp_id_t me, const void *snapshot);

enum log_level { LOG_TRACE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_FATAL, LOG_SILENT };

enum synchronization_algorithm { SERIAL = 1, TIME_WARP };

/* Members without effect are not read: numawarp has its own options for these settings. */
struct simulation_configuration {
    lp_id_t lps;
    unsigned n_threads;         /* --workers; 0: one per core */
    simtime_t termination_time; /* --until; 0: none */
    unsigned gvt_period;        /* no effect */
    enum log_level log_level;   /* LOG_SILENT: --quiet; the other levels have no effect */
    FILE *logfile;              /* no effect */
    const char *stats_file;     /* --stats, with .json added to the name; NULL: none */
    unsigned ckpt_interval;     /* no effect */
    uint64_t prng_seed;         /* --prng-seed, of the library of random numbers */
    bool core_binding;          /* --pin */
    bool serial;                /* --engine sequential */
    ProcessEvent_t dispatcher;
    CanEnd_t committed;
    /* Added after 3.0.0. If it is not 0, `serial` has no effect. */
    enum synchronization_algorithm synchronization;
};

/* Returns 0. If the configuration is wrong, prints a line to standard error and returns -1. */
extern int RootsimInit(const struct simulation_configuration *conf);
/* Executes the whole run. Returns the exit code with which the program should end, or -1 if there
 * is no configuration. */
extern int RootsimRun(void);
/* Ends the run soon. Allowed in any thread of the program, but not in a handler or CanEnd. Does
 * nothing if there is no run. */
extern void RootsimStop(void);

/* Allowed in handlers only. The event's time is equal to `timestamp` to the bit. */
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
