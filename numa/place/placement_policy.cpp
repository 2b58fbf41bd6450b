// SPDX-License-Identifier: Apache-2.0
#include "numa/place/placement_policy.hpp"

#include <string>

#include <fmt/format.h>

#include <numawarp/model.hpp>

#include "numa/decide/bandwidth_matrix.hpp"

namespace nw {

const PlacementChoice local_placement{
    .word = "local", .help = "on the node of their worker", .make = make_policy<LocalPolicy>};
const PlacementChoice strict_placement{
    .word = "strict",
    .help = "as local, but if the node of a worker has no room, the kernel kills the run",
    .make = make_policy<LocalPolicy>,
    .is_strict = true};

std::unique_ptr<PlacementPolicy> make_chosen_policy(const PlacementChoice& choice, Os& os,
                                                    const PolicyInputs& inputs) {
    const std::size_t nodes = os.nodes().size();
    if (!choice.reads_machine || nodes <= decision_nodes_max) return choice.make(os, inputs);
    std::string allowed;
    for (const PlacementChoice* other : placement_choices)
        if (!other->reads_machine) allowed.append(allowed.empty() ? "" : ", ").append(other->word);
    throw SetupError(
        fmt::format("placement {}: this machine has {} nodes with memory, and this placement "
                    "supports at most {}; allowed here: {}",
                    choice.word, nodes, decision_nodes_max, allowed));
}

}  // namespace nw
