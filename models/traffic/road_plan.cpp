// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/road_plan.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace traffic {
namespace {

std::uint32_t pieces_max(const Route& route) {
    // 1e-9 compensates for rounding: a route of 0.3 km can be cut into three segments.
    const double pieces = std::floor(route.length_km / segment_km_min + 1e-9);
    return static_cast<std::uint32_t>(std::max(1.0, pieces));
}

// Returns the number of segments of each route. Requires: objects_min() ≤ objects ≤ objects_max().
std::vector<std::uint32_t> apportion(const Network& network, std::uint32_t objects) {
    struct Candidate {
        double piece_km;
        std::size_t route;
        bool operator<(const Candidate& other) const {
            if (piece_km != other.piece_km) return piece_km < other.piece_km;
            return route > other.route;
        }
    };
    std::vector<std::uint32_t> pieces(network.routes.size(), 1);
    std::priority_queue<Candidate> longest;
    for (std::size_t i = 0; i < network.routes.size(); ++i) {
        longest.push({network.routes[i].length_km, i});
    }
    for (std::uint32_t n = objects_min(network); n < objects;) {
        const std::size_t i = longest.top().route;
        longest.pop();
        if (pieces[i] == pieces_max(network.routes[i])) continue;
        ++pieces[i];
        ++n;
        longest.push({network.routes[i].length_km / pieces[i], i});
    }
    return pieces;
}

// A depth-first walk that numbers junctions and segments in the order in which it reaches them.
class Walk {
  public:
    Walk(const Network& network, const std::vector<std::uint32_t>& pieces)
        : network_(network),
          pieces_(pieces),
          routes_at_(network.junctions.size()),
          junction_lp_(network.junctions.size(), unnumbered),
          segment_lp_(network.routes.size()) {
        for (std::size_t i = 0; i < network.routes.size(); ++i) {
            routes_at_[network.routes[i].from].push_back(i);
            routes_at_[network.routes[i].to].push_back(i);
        }
        // Start at a junction with the fewest routes: from an end of the network, the walk turns
        // back less often.
        std::size_t start = 0;
        for (std::size_t i = 0; i < routes_at_.size(); ++i) {
            if (routes_at_[i].size() < routes_at_[start].size()) start = i;
        }
        walk_from(start);
    }

    nw::LpId junction(std::size_t index) const { return nw::LpId{junction_lp_[index]}; }
    nw::LpId segment(std::size_t route, std::uint32_t piece) const {
        return nw::LpId{segment_lp_[route][piece]};
    }

  private:
    static constexpr std::uint32_t unnumbered = 0xffff'ffff;

    // Not recursive: a network may be one road with many thousands of junctions.
    void walk_from(std::size_t start) {
        struct Visit {
            std::size_t junction;
            std::size_t next_route;
        };
        std::vector<Visit> path{{start, 0}};
        junction_lp_[start] = next_lp_++;
        while (!path.empty()) {
            Visit& here = path.back();
            if (here.next_route == routes_at_[here.junction].size()) {
                path.pop_back();
                continue;
            }
            const std::size_t route = routes_at_[here.junction][here.next_route++];
            if (!segment_lp_[route].empty()) continue;
            const bool forwards = network_.routes[route].from == here.junction;
            number_segments(route, forwards);
            const std::size_t there =
                forwards ? network_.routes[route].to : network_.routes[route].from;
            if (junction_lp_[there] != unnumbered) continue;
            junction_lp_[there] = next_lp_++;
            path.push_back({there, 0});
        }
    }

    void number_segments(std::size_t route, bool forwards) {
        segment_lp_[route].resize(pieces_[route]);
        for (std::uint32_t& lp : segment_lp_[route]) lp = next_lp_++;
        if (!forwards) std::reverse(segment_lp_[route].begin(), segment_lp_[route].end());
    }

    const Network& network_;
    const std::vector<std::uint32_t>& pieces_;
    std::vector<std::vector<std::size_t>> routes_at_;
    std::vector<std::uint32_t> junction_lp_;
    std::vector<std::vector<std::uint32_t>> segment_lp_;
    std::uint32_t next_lp_ = 0;
};

std::string segment_name(const Network& network, const Route& route, std::uint32_t piece,
                         std::uint32_t pieces) {
    std::string name = route.motorway + ' ' + network.junctions[route.from].name + '-' +
                       network.junctions[route.to].name;
    if (pieces > 1) name += ' ' + std::to_string(piece + 1) + '/' + std::to_string(pieces);
    return name;
}

}  // namespace

std::uint32_t objects_min(const Network& network) {
    return static_cast<std::uint32_t>(network.junctions.size() + network.routes.size());
}

std::uint32_t objects_max(const Network& network) {
    std::uint64_t sum = network.junctions.size();
    for (const Route& route : network.routes) sum += pieces_max(route);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, 0xffff'fffe));
}

RoadPlan cut(const Network& network, std::uint32_t objects) {
    const std::uint32_t least = objects_min(network), most = objects_max(network);
    nw::require(objects >= least && objects <= most, "objects", objects,
                "must be from " + std::to_string(least) + " (uncut) to " + std::to_string(most) +
                    " (segments of 100 m) for this network of " +
                    std::to_string(network.junctions.size()) + " junctions and " +
                    std::to_string(network.routes.size()) + " routes");
    const std::vector<std::uint32_t> pieces = apportion(network, objects);
    const Walk walk(network, pieces);
    RoadPlan plan(objects);

    for (std::size_t i = 0; i < network.junctions.size(); ++i) {
        const Junction& junction = network.junctions[i];
        RoadObject& object = plan[nw::index(walk.junction(i))];
        object.is_junction = true;
        object.name = junction.name;
        object.length_km = junction.length_km;
        object.lanes = junction.lanes;
        object.inter_arrival_s = junction.inter_arrival_s;
        object.leave_probability = junction.leave_probability;
        object.origin = i;
    }
    for (std::size_t i = 0; i < network.routes.size(); ++i) {
        const Route& route = network.routes[i];
        for (std::uint32_t piece = 0; piece < pieces[i]; ++piece) {
            RoadObject& object = plan[nw::index(walk.segment(i, piece))];
            object.name = segment_name(network, route, piece, pieces[i]);
            object.motorway = route.motorway;
            object.length_km = route.length_km / pieces[i];
            object.lanes = route.lanes;
            object.origin = i;
            object.piece = piece;
            object.pieces = pieces[i];
            object.neighbors = {
                piece == 0 ? walk.junction(route.from) : walk.segment(i, piece - 1),
                piece + 1 == pieces[i] ? walk.junction(route.to) : walk.segment(i, piece + 1)};
        }
        plan[nw::index(walk.junction(route.from))].neighbors.push_back(walk.segment(i, 0));
        plan[nw::index(walk.junction(route.to))].neighbors.push_back(
            walk.segment(i, pieces[i] - 1));
    }
    return plan;
}

}  // namespace traffic
