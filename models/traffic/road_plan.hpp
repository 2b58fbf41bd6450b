// The network cut into simulation objects: each junction is one, each route a chain of one or more
// segments of equal length. An object's number is the number of its logical process.
//
// The longest segment is cut until the wanted number is reached (the highest-averages rule of
// d'Hondt, 1878): segments come out in proportion to the routes' lengths, and none is longer than
// need be. Numbers follow a walk through the network, so that near numbers are near places.
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
    std::uint32_t lanes = 0;           // of one carriageway
    double inter_arrival_s = 0;        // of a junction
    double leave_probability = 0;      // of a junction
    std::vector<nw::LpId> neighbours;  // of a segment exactly two: towards `from`, towards `to`
    std::size_t origin = 0;            // the junction's or the route's index in the network
    std::uint32_t piece = 0;  // of a segment: 0 … pieces-1, counted from the route's `from`
    std::uint32_t pieces = 1;
};

using RoadPlan = std::vector<RoadObject>;  // by LpId

// Legal numbers of objects for a network.
std::uint32_t objects_min(const Network& network);
std::uint32_t objects_max(const Network& network);

// Throws nw::SetupError, naming --objects and the legal range.
// Ensures: exactly `objects` objects; the lengths of a route's segments add up to the route's.
RoadPlan cut(const Network& network, std::uint32_t objects);

}  // namespace traffic
