// SPDX-License-Identifier: Apache-2.0
#include "numa/decide/bandwidth_matrix.hpp"

#include <cmath>

#include <fmt/format.h>

#include <numawarp/model.hpp>

namespace nw {

BandwidthMatrix::BandwidthMatrix(const std::vector<std::vector<double>>& mb_s)
    : nodes_(mb_s.size()) {
    if (nodes_ == 0 || nodes_ > decision_nodes_max)
        throw SetupError(fmt::format("bw has {} rows; allowed: one per node, 1 to {}", nodes_,
                                     decision_nodes_max));
    for (std::size_t cpu = 0; cpu < nodes_; ++cpu) {
        if (mb_s[cpu].size() != nodes_)
            throw SetupError(fmt::format(
                "row {} of bw has {} numbers, but bw has {} rows; allowed: as many numbers in each "
                "row as there are rows",
                cpu, mb_s[cpu].size(), nodes_));
        for (std::size_t memory = 0; memory < nodes_; ++memory) {
            const double value = mb_s[cpu][memory];
            if (!std::isfinite(value) || value < 0 || (value == 0 && cpu != memory))
                throw SetupError(
                    fmt::format("bw[{}][{}] is {}; allowed: MB/s above 0; on the diagonal also 0, "
                                "for an unknown value",
                                cpu, memory, value));
            mb_s_.push_back(value);
        }
    }
}

}  // namespace nw
