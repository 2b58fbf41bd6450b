/* What ROOT-Sim's topologies have in common, whether functions take them last (rootsim/topology.h) or first
 * (ROOT-Sim/topology.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct topology;

enum topology_geometry {
    TOPOLOGY_HEXAGON = 1, /* rows, every other one half a cell further east; height and width */
    TOPOLOGY_SQUARE,      /* height and width */
    TOPOLOGY_TORUS,       /* a square whose edges meet; height and width */
    TOPOLOGY_RING,        /* eastwards only */
    TOPOLOGY_BIDRING,     /* east and west */
    TOPOLOGY_STAR,        /* region 0 is the centre */
    TOPOLOGY_FCMESH,      /* each is the neighbour of each other one */
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

/* InitializeTopology(geometry, regions) or InitializeTopology(geometry, height, width); NULL after a line
 * on standard error. */
extern struct topology *vInitializeTopology(enum topology_geometry geometry, int argc, ...);
#define InitializeTopology(geometry, ...) \
    vInitializeTopology(geometry, ROOTSIM_COUNT(__VA_ARGS__, 4, 3, 2, 1, 0), __VA_ARGS__)
#define ROOTSIM_COUNT(a, b, c, d, count, ...) count

#ifdef __cplusplus
}
#endif
