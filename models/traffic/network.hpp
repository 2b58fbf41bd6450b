// SPDX-License-Identifier: Apache-2.0
// A road network as a planner describes it: junctions, and the motorway routes between them. The
// network is read from a TOML file and checked before the run starts. road_plan.hpp cuts the
// network into simulation objects.
//
// A mistake in the file gives an error of one line with the file, line, entry, key and the allowed
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traffic {

struct Position {
    double latitude = 0;  // degrees
    double longitude = 0;
};

struct Junction {
    std::string name;
    std::optional<Position> position;
    double inter_arrival_s = 0;    // mean time between cars that enter the network here
    double leave_probability = 0;  // share of the passing cars that leave the network here
    double length_km = 0;          // length of the way through the junction
    std::uint32_t lanes = 0;       // of one carriageway
    std::string label;             // side of the name in the picture; empty: the name is not shown
};

struct Route {
    std::string motorway;
    std::size_t from = 0;  // index of a junction
    std::size_t to = 0;    // index of a junction
    double length_km = 0;
    std::uint32_t lanes = 0;    // of one carriageway
    std::vector<Position> via;  // bends, for the picture only
};

struct Network {
    std::string name;
    std::vector<Junction> junctions;
    std::vector<Route> routes;
    std::vector<std::vector<Position>> outlines;  // coasts and borders, for the picture only

    double length_km() const;  // total length of all routes
};

// `source`: the name of the text in error messages. Throws nw::SetupError if the text has a
// mistake. Ensures: each route joins two different junctions, the network is connected, and all
// numbers are in their allowed ranges.
Network parse_network(std::string_view text, const std::string& source);
Network read_network(const std::string& file);

// The motorways of the Italian mainland, built into the program from italy.toml.
Network italian_network();
std::string_view italian_network_text();

}  // namespace traffic
