// A road network as a planner writes it down: junctions, and the motorway routes between them. Read
// from TOML and checked, before anything runs. What it becomes is in road_plan.hpp.
//
// Every mistake in a file is told in one line: file, line, entry, key, and what is legal.
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
    double inter_arrival_s = 0;    // mean time between cars that enter here
    double leave_probability = 0;  // share of the cars passing it that leave the network here
    double length_km = 0;          // a junction has a way through, and a crossing time
    std::uint32_t lanes = 0;       // of one carriageway
    std::string label;             // side of the name in the picture; empty: not written
};

struct Route {
    std::string motorway;
    std::size_t from = 0;  // indices of junctions
    std::size_t to = 0;
    double length_km = 0;
    std::uint32_t lanes = 0;    // of one carriageway
    std::vector<Position> via;  // bends, for the picture only
};

struct Network {
    std::string name;
    std::vector<Junction> junctions;
    std::vector<Route> routes;
    std::vector<std::vector<Position>> outlines;  // coasts and borders, for the picture only

    double length_km() const;  // of all routes
};

// `source` names the text in error messages. Throws nw::SetupError.
// Ensures: routes join two different junctions, the network is connected, all figures are legal.
Network parse_network(std::string_view text, const std::string& source);
Network read_network(const std::string& file);

// The motorways of the Italian mainland, built into the program from italy.toml.
Network italian_network();
std::string_view italian_network_text();

}  // namespace traffic
