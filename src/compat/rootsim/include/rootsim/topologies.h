// SPDX-License-Identifier: Apache-2.0
/* The common part of both interfaces to ROOT-Sim's topologies. In rootsim/topology.h the topology
 * is the last parameter of a function, and in ROOT-Sim/topology.h the first. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct topology;

enum topology_geometry {
    TOPOLOGY_HEXAGON = 1, /* height and width; odd rows are half a cell further east */
    TOPOLOGY_SQUARE,      /* height and width */
    TOPOLOGY_TORUS,       /* height and width; opposite edges are connected */
    TOPOLOGY_RING,        /* neighbors in the east only */
    TOPOLOGY_BIDRING,     /* neighbors in the east and in the west */
    TOPOLOGY_STAR,        /* region 0 is the center */
    TOPOLOGY_FCMESH,      /* all other regions are neighbors */
    TOPOLOGY_GRAPH        /* links with probabilities: AddTopologyLink() */
};

enum topology_direction {
    DIRECTION_E,
    DIRECTION_W,
    DIRECTION_N,
    DIRECTION_S,
    DIRECTION_NE,
    DIRECTION_SW,
    DIRECTION_NW,
    DIRECTION_SE,
    DIRECTION_RANDOM /* drawn from the LP's random numbers */
};

#define INVALID_DIRECTION UINT64_MAX

extern uint64_t CountRegions(struct topology *topology);
extern bool AddTopologyLink(struct topology *topology, uint64_t from, uint64_t to,
                            double probability);
extern void ReleaseTopology(struct topology *topology);

/* Called as InitializeTopology(geometry, regions) or InitializeTopology(geometry, height, width).
 * If the arguments are wrong, prints a line to standard error and returns NULL. */
extern struct topology *vInitializeTopology(enum topology_geometry geometry, int argc, ...);
#define InitializeTopology(geometry, ...) \
    vInitializeTopology(geometry, ROOTSIM_COUNT(__VA_ARGS__, 4, 3, 2, 1, 0), __VA_ARGS__)
#define ROOTSIM_COUNT(a, b, c, d, count, ...) count

#ifdef __cplusplus
}
#endif
