// SPDX-License-Identifier: Apache-2.0
/* Topologies of ROOT-Sim's library after core 3.0.0 (topology 1.2.2). DIRECTION_RANDOM draws from
 * the LP's random numbers, which are rolled back with the LP. */
#pragma once

#include <rootsim/symbol.h>
#include <rootsim/topologies.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint64_t CountDirections(struct topology *topology, uint64_t from)
    ROOTSIM_SYMBOL(CountDirections);
/* Returns INVALID_DIRECTION if there is no neighbor. */
extern uint64_t GetReceiver(struct topology *topology, uint64_t from,
                            enum topology_direction direction) ROOTSIM_SYMBOL(GetReceiver);
extern bool IsNeighbor(struct topology *topology, uint64_t from, uint64_t to)
    ROOTSIM_SYMBOL(IsNeighbor);
/* Writes CountDirections() regions to `receivers`. Not for stars and meshes. */
extern void GetAllReceivers(struct topology *topology, uint64_t from, uint64_t *receivers)
    ROOTSIM_SYMBOL(GetAllReceivers);

/* Only for graphs. CountSources() returns the number of regions with a link to `me`.
 * GetAllSources() writes the regions with a link to `to` to `sources`. */
extern uint64_t CountSources(struct topology *topology, uint64_t me) ROOTSIM_SYMBOL(CountSources);
extern void GetAllSources(struct topology *topology, uint64_t to, uint64_t *sources)
    ROOTSIM_SYMBOL(GetAllSources);
/* Only for graphs: gives all links of a region the same probability. */
extern bool NormalizeLinkProbabilities(struct topology *topology)
    ROOTSIM_SYMBOL(NormalizeLinkProbabilities);
/* The model's data of a link. Return false or NULL if there is no such link. */
extern bool SetTopologyLinkData(struct topology *topology, uint64_t from, uint64_t to, void *data)
    ROOTSIM_SYMBOL(SetTopologyLinkData);
extern void *GetTopologyLinkData(struct topology *topology, uint64_t from, uint64_t to)
    ROOTSIM_SYMBOL(GetTopologyLinkData);

#ifdef __cplusplus
}
#endif
