/* ROOT-Sim's topologies as the library that came after core 3.0.0 has them (topology 1.2.2). What is drawn is drawn
 * from random numbers of the LP, which are rolled back with it. */
#pragma once

#include <rootsim/symbol.h>
#include <rootsim/topologies.h>

#ifdef __cplusplus
extern "C" {
#endif

extern uint64_t CountDirections(struct topology *topology, uint64_t from)
    ROOTSIM_SYMBOL(CountDirections);
/* INVALID_DIRECTION where there is nobody. */
extern uint64_t GetReceiver(struct topology *topology, uint64_t from,
                            enum topology_direction direction) ROOTSIM_SYMBOL(GetReceiver);
extern bool IsNeighbor(struct topology *topology, uint64_t from, uint64_t to)
    ROOTSIM_SYMBOL(IsNeighbor);
/* CountDirections() of them; not in a star or a mesh. */
extern void GetAllReceivers(struct topology *topology, uint64_t from, uint64_t *receivers)
    ROOTSIM_SYMBOL(GetAllReceivers);

/* Of a graph: regions with a link to one, whose number GetAllSources() fills in. */
extern uint64_t CountSources(struct topology *topology, uint64_t me) ROOTSIM_SYMBOL(CountSources);
extern void GetAllSources(struct topology *topology, uint64_t to, uint64_t *sources)
    ROOTSIM_SYMBOL(GetAllSources);
/* Of a graph: from now on the links of a region are drawn alike. */
extern bool NormalizeLinkProbabilities(struct topology *topology)
    ROOTSIM_SYMBOL(NormalizeLinkProbabilities);
/* Of a link: false, or NULL, where it is not there. */
extern bool SetTopologyLinkData(struct topology *topology, uint64_t from, uint64_t to, void *data)
    ROOTSIM_SYMBOL(SetTopologyLinkData);
extern void *GetTopologyLinkData(struct topology *topology, uint64_t from, uint64_t to)
    ROOTSIM_SYMBOL(GetTopologyLinkData);

#ifdef __cplusplus
}
#endif
