// SPDX-License-Identifier: Apache-2.0
// Cuts the network into simulation objects. Each junction is one object. Each route is a chain of
// one or more segments of equal length; each segment is one object. The number of an object is the
// number of its logical process.
//
// One segment is added at a time, to the route with the longest segments, until the wanted number
// of objects is reached (the highest-averages rule of d'Hondt, 1878). So the number of a route's
// segments is in proportion to the route's length, and the longest segment is as short as possible.
// Objects are numbered along a walk through the network, so that objects with close numbers are
// close to each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "models/traffic/network.hpp"

namespace traffic {

inline constexpr double segment_km_min = 0.1;

struct RoadObject {
    bool is_junction = false;
    std::string name;      // "Milano" or "A1 Milano-Piacenza 3/11"
    std::string motorway;  // empty for a junction
    double length_km = 0;
    std::uint32_t lanes = 0;          // of one carriageway
    double inter_arrival_s = 0;       // of a junction
    double leave_probability = 0;     // of a junction
    std::vector<nw::LpId> neighbors;  // of a segment: two, toward the route's `from` and its `to`
    std::size_t origin = 0;           // index of the junction or of the route in the network
    std::uint32_t piece = 0;   // of a segment: 0 … pieces-1, counted from the route's `from`
    std::uint32_t pieces = 1;  // segments of the route
};

using RoadPlan = std::vector<RoadObject>;  // by LpId

// The smallest and the largest allowed number of objects for a network.
std::uint32_t objects_min(const Network& network);
std::uint32_t objects_max(const Network& network);

// Throws nw::SetupError unless objects_min() ≤ `objects` ≤ objects_max(); the message names
// --objects and this range. Ensures: the plan has exactly `objects` objects, and the sum of the
// lengths of a route's segments is the length of the route.
RoadPlan cut(const Network& network, std::uint32_t objects);

}  // namespace traffic
