// SPDX-License-Identifier: Apache-2.0
/* The interface of ROOT-Sim 2 ("classic") for models in C. The names, types and values are those of
 * ROOT-Sim, and numawarp implements them. The model defines ProcessEvent() and OnGVT(), and
 * numawarp defines main(). docs/rootsim.md describes how a model is built, the differences, and the
 * parts that are not covered. A call of a function that is not covered is a compile error. */
#pragma once

#include <argp.h>
#include <float.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef INIT
#undef INIT
#endif
/* The type of the first event of each LP, which is at time 0. The LP has no state yet. */
#define INIT 0

typedef double simtime_t;
#define INFTY DBL_MAX

extern unsigned int n_prc_tot; /* number of LPs in the run: --lp */

/* The model's options. A model need not define it. */
__attribute__((weak)) extern struct argp model_argp;

/* Allowed in handlers only. The event's time is equal to `timestamp` to the bit. */
extern void (*ScheduleNewEvent)(unsigned int receiver, simtime_t timestamp, unsigned int event_type,
                                void *event_content, unsigned int event_size);
extern void SetState(void *new_state);

/* Random numbers. Each LP has a stream, which is rolled back with the LP. The numbers are those
 * that ROOT-Sim draws with the same master seed. */
double Random(void); /* uniform in (0, 1) */
int RandomRange(int min, int max);
int RandomRangeNonUniform(int x, int min, int max);
double Expent(double mean);
double Normal(void);
double Gamma(int ia);
double Poisson(void);
int Zipf(double skew, int limit);

/* The topology of all LPs, if the model defines topology_settings. Topologies from a file,
 * topologies with costs or probabilities, and topologies that change are refused at the beginning
 * of the run. */
enum _topology_geometry_t {
    TOPOLOGY_GEOMETRY_OFFSET = 1000,
    TOPOLOGY_HEXAGON = TOPOLOGY_GEOMETRY_OFFSET,
    TOPOLOGY_SQUARE,
    TOPOLOGY_RING,
    TOPOLOGY_BIDRING,
    TOPOLOGY_TORUS,
    TOPOLOGY_STAR,
    TOPOLOGY_GRAPH
};

typedef enum _direction_t {
    DIRECTION_E = 0,
    DIRECTION_W = 1,
    DIRECTION_N = 2, /* of squares and tori */
    DIRECTION_S = 3,
    DIRECTION_NE = 2, /* of hexagons */
    DIRECTION_SW = 3,
    DIRECTION_NW = 4,
    DIRECTION_SE = 5,
    DIRECTION_INVALID = UINT_MAX
} direction_t;

enum _topology_type_t { TOPOLOGY_OBSTACLES, TOPOLOGY_COSTS, TOPOLOGY_PROBABILITIES };

__attribute__((weak)) extern struct _topology_settings_t {
    const char *const topology_path;
    const enum _topology_type_t type;
    const enum _topology_geometry_t default_geometry;
    const unsigned out_of_topology; /* number of LPs that are in no region: the last LPs */
    const bool write_enabled;
} topology_settings;

unsigned int RegionsCount(void);
unsigned int DirectionsCount(void);
unsigned int NeighboursCount(unsigned int region);
unsigned int GetReceiver(unsigned int from, direction_t direction, bool reachable);
unsigned int FindReceiver(void); /* a random neighbor of the running LP */
unsigned int FindReceiverToward(unsigned int to); /* first step of a shortest path to `to` */
/* Writes the regions of a shortest path to `result`, without `source`; the last region is `dest`.
 * Returns the number of these regions, or -1 if there is no path. */
double ComputeMinTour(unsigned int source, unsigned int dest, unsigned int *result);

#define ROOTSIM_NOT_COVERED \
    __attribute__((error("numawarp does not support this part of ROOT-Sim (docs/rootsim.md)")))

double GetValueTopology(unsigned from, unsigned to) ROOTSIM_NOT_COVERED;
void SetValueTopology(unsigned from, unsigned to, double value) ROOTSIM_NOT_COVERED;

/* Agents, if the model defines abm_settings. Each agent is in a region and visits other regions
 * according to its plan. Handlers receive the key of the agent. For a visit, the model receives an
 * event of the type in the plan. For an agent that only passes through, the model receives an event
 * of the type traverse_handler. */
typedef unsigned long long agent_t;

__attribute__((weak)) extern struct _abm_settings_t {
    const unsigned neighbour_data_size; /* bytes of the data for TrackNeighbourInfo() */
    const unsigned traverse_handler;
    const bool keep_history; /* CountPastVisits(), GetPastVisit() */
} abm_settings;

int GetNeighbourInfo(direction_t i, unsigned int *region_id, void **data_p); /* -1: no neighbor */
void TrackNeighbourInfo(void *neighbour_data);
bool IterAgents(agent_t *agent_p); /* false: no more agents; NULL: begin again */
unsigned CountAgents(void);
agent_t SpawnAgent(unsigned user_data_size);
void KillAgent(agent_t agent);
void *DataAgent(agent_t agent, unsigned *data_size_p);
void ScheduleNewLeaveEvent(simtime_t time, unsigned int event_type, agent_t agent);
unsigned CountVisits(agent_t agent);
void GetVisit(agent_t agent, unsigned *region_p, unsigned *event_type_p, unsigned i);
void SetVisit(agent_t agent, unsigned region, unsigned event_type, unsigned i);
void EnqueueVisit(agent_t agent, unsigned region, unsigned event_type);
void AddVisit(agent_t agent, unsigned region, unsigned event_type, unsigned i);
void RemoveVisit(agent_t agent, unsigned i);
unsigned CountPastVisits(agent_t agent);
void GetPastVisit(agent_t agent, unsigned *region_p, unsigned *event_type_p, simtime_t *time_p,
                  unsigned i); /* 0: the newest */

#ifdef __cplusplus
}
#endif
