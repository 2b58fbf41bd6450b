// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/map_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace traffic {
namespace {

constexpr double margin = 45;
constexpr double height_min = 640;  // pixels; the panel's content must fit
constexpr double height_to_width_max = 1.4;
constexpr double km_per_degree = 111.2;

Position on_circle(std::size_t index, std::size_t count) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(index) / static_cast<double>(count);
    return {std::sin(angle), std::cos(angle)};
}

}  // namespace

double distance(Point a, Point b) { return std::hypot(b.x - a.x, b.y - a.y); }

Line part(const Line& line, double from, double to) {
    double whole = 0;
    for (std::size_t i = 1; i < line.size(); ++i) whole += distance(line[i - 1], line[i]);
    const double begin = from * whole;
    const double end = to * whole;
    Line result;
    double done = 0;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const Point a = line[i - 1];
        const Point b = line[i];
        const double step = distance(a, b);
        const auto along = [a, b, step, done](double wanted) {
            const double share = (wanted - done) / step;
            return Point{a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
        };
        if (begin < done + step && end > done) {
            if (result.empty()) result.push_back(along(std::max(begin, done)));
            result.push_back(along(std::min(end, done + step)));
        }
        done += step;
    }
    if (result.empty()) result.push_back(line.front());
    return result;
}

MapSheet::MapSheet(const Network& network) {
    is_to_scale_ = std::all_of(network.junctions.begin(), network.junctions.end(),
                               [](const Junction& j) { return j.position.has_value(); });
    for (std::size_t i = 0; i < network.junctions.size(); ++i) {
        places_.push_back(is_to_scale_ ? *network.junctions[i].position
                                       : on_circle(i, network.junctions.size()));
    }
    // The picture shows all junctions and the first outline.
    std::vector<Position> shown = places_;
    if (is_to_scale_ && !network.outlines.empty()) {
        shown.insert(shown.end(), network.outlines[0].begin(), network.outlines[0].end());
    }
    double south = 90;
    double east = -180;
    for (const Position& p : shown) {
        south = std::min(south, p.latitude);
        north_ = std::max(north_, p.latitude);
        west_ = std::min(west_, p.longitude);
        east = std::max(east, p.longitude);
    }
    shrink_ = std::cos((south + north_) / 2 * std::numbers::pi / 180);
    const double wide_km = std::max(1.0, (east - west_) * shrink_ * km_per_degree);
    const double high_km = (north_ - south) * km_per_degree;
    pixels_per_km_ = (map_width - 2 * margin) / std::max(wide_km, high_km / height_to_width_max);
    height_ = std::max(height_min, high_km * pixels_per_km_ + 2 * margin);
    top_ = (height_ - high_km * pixels_per_km_) / 2;
}

Point MapSheet::at(Position position) const {
    const double east_km = (position.longitude - west_) * shrink_ * km_per_degree;
    const double south_km = (north_ - position.latitude) * km_per_degree;
    return {margin + east_km * pixels_per_km_, top_ + south_km * pixels_per_km_};
}

Line MapSheet::route(const Route& route) const {
    Line line{junction(route.from)};
    if (is_to_scale_) {
        for (const Position& p : route.via) line.push_back(at(p));
    }
    line.push_back(junction(route.to));
    return line;
}

}  // namespace traffic
