// SPDX-License-Identifier: Apache-2.0
/* ROOT-Sim's topologies, which define the neighbors of each region. The program creates a topology
 * before the run, or an LP creates it. In handlers, only the LP that created a topology may change
 * it. */
#pragma once

#include <rootsim/topologies.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint64_t CountDirections(uint64_t from, struct topology *topology);
/* Returns INVALID_DIRECTION if there is no neighbor. */
extern uint64_t GetReceiver(uint64_t from, struct topology *topology,
                            enum topology_direction direction);
extern bool IsNeighbor(uint64_t from, uint64_t to, struct topology *topology);

#ifdef __cplusplus
}
#endif
