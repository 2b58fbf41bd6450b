// The network as a map that a traffic planner can read: an SVG with each segment coloured by its
// density, in the classes of the "levels of service" that the Highway Capacity Manual of the US
// Transportation Research Board made customary. Pointing at a road shows its figures.
#pragma once

#include <string>
#include <vector>

#include "models/traffic/committed_rows.hpp"
#include "models/traffic/network.hpp"
#include "models/traffic/road_plan.hpp"

namespace traffic {

std::string draw_map(const Network& network, const RoadPlan& plan,
                     const std::vector<RoadRow>& rows);

// Throws std::system_error if the file cannot be written.
void write_map(const std::string& file, const Network& network, const RoadPlan& plan,
               const std::vector<RoadRow>& rows);

}  // namespace traffic
