// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/road_physics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <numawarp/math.hpp>

namespace traffic {
namespace {

// The largest fullness in the formula. On a fuller road, cars still move, at walking speed.
constexpr double fullness_max = 0.95;

double normal_below(double x) { return 0.5 * nw::math::erfc(-x / std::sqrt(2.0)); }

}  // namespace

double positive_normal(nw::Random& random, double mean, double deviation) {
    for (;;) {
        const double value = random.normal(mean, deviation);
        if (value > 0) return value;
    }
}

double free_speed(nw::Random& random, const RoadParameters& parameters) {
    for (;;) {
        const double speed = random.normal(parameters.speed_mean, parameters.speed_deviation);
        if (speed >= parameters.speed_mean / 4) return speed;
    }
}

double crossing_time(nw::Random& random, double length_km, double fullness,
                     const RoadParameters& parameters) {
    const double empty = length_km / free_speed(random, parameters) * 3600;
    const double f = std::min(fullness, fullness_max);
    const double slowdown = empty * f / (1 - f);
    return empty + std::max(0.0, random.normal(slowdown, slowdown * parameters.slowdown_deviation));
}

double way_to_stop(nw::Random& random, const RoadParameters& parameters) {
    if (parameters.stop_probability <= 0) return std::numeric_limits<double>::infinity();
    return random.exponential(-100 / nw::math::log1p(-parameters.stop_probability));
}

double accident_probability(double cars, double capacity, const RoadParameters& parameters) {
    const double deviation = std::sqrt(parameters.accident_variance) * capacity;
    return normal_below((cars + 0.5 - capacity / 2) / deviation) -
           normal_below((cars - 0.5 - capacity / 2) / deviation);
}

}  // namespace traffic
