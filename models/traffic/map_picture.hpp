// SPDX-License-Identifier: Apache-2.0
// Draws the network as a map for traffic planners, in SVG. The color of a segment shows its
// density, in the classes of the "levels of service" of the Highway Capacity Manual (US
// Transportation Research Board). Pointing at a road shows its figures.
#pragma once

#include <string>
#include <vector>

#include "models/traffic/committed_rows.hpp"
#include "models/traffic/network.hpp"
#include "models/traffic/road_plan.hpp"

namespace traffic {

// Returns the SVG text. `rows`: the last row of each object; missing rows count as empty roads.
std::string draw_map(const Network& network, const RoadPlan& plan,
                     const std::vector<RoadRow>& rows);

// Writes the SVG text to a file. Throws std::system_error if the file cannot be written.
void write_map(const std::string& file, const Network& network, const RoadPlan& plan,
               const std::vector<RoadRow>& rows);

}  // namespace traffic
