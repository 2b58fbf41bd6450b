/* ROOT-Sim's topologies: who is whose neighbour. One is made before the run or by an LP for itself, and
 * belongs to whoever made it. */
#pragma once

#include <rootsim/topologies.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint64_t CountDirections(uint64_t from, struct topology *topology);
/* INVALID_DIRECTION where there is nobody. */
extern uint64_t GetReceiver(uint64_t from, struct topology *topology,
                            enum topology_direction direction);
extern bool IsNeighbor(uint64_t from, uint64_t to, struct topology *topology);

#ifdef __cplusplus
}
#endif
