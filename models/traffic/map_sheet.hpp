// SPDX-License-Identifier: Apache-2.0
// Converts positions on the Earth to pixels of the picture. The map is equirectangular, and its
// scale is exact at the middle latitude. If a junction has no coordinates, all junctions are placed
// on a circle instead.
#pragma once

#include <string>
#include <vector>

#include "models/traffic/network.hpp"

namespace traffic {

struct Point {
    double x = 0;  // pixels from the left
    double y = 0;  // pixels from the top
};
using Line = std::vector<Point>;

double distance(Point a, Point b);

// Returns the part of a line between the shares `from` and `to` of its length. Requires:
// 0 ≤ from < to ≤ 1. Ensures: the result has at least one point.
Line part(const Line& line, double from, double to);

class MapSheet {
  public:
    static constexpr double map_width = 900;
    static constexpr double panel_width = 270;  // on the right: title, figures, legend

    explicit MapSheet(const Network& network);

    Point at(Position position) const;
    Point junction(std::size_t index) const { return at(places_[index]); }
    Line route(const Route& route) const;

    double height() const { return height_; }
    double pixels_per_km() const { return pixels_per_km_; }
    bool is_to_scale() const { return is_to_scale_; }

  private:
    std::vector<Position> places_;  // of junctions, by index
    double north_ = -90;
    double west_ = 180;
    double shrink_ = 1;  // length of a degree of longitude, in degrees of latitude
    double pixels_per_km_ = 1;
    double height_ = 0;
    double top_ = 0;  // pixels above the northernmost place
    bool is_to_scale_ = true;
};

}  // namespace traffic
