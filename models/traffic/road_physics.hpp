// SPDX-License-Identifier: Apache-2.0
// The rules by which cars drive. The functions depend only on their arguments and the random
// stream. Times are in seconds, lengths in km, speeds in km/h. docs/models/traffic.md describes the
// rules.
#pragma once

#include <numawarp/model.hpp>

namespace traffic {

struct RoadParameters {
    unsigned erlang_shape = 2;
    double speed_mean = 110;
    double speed_deviation = 20;
    double slowdown_deviation = 0.3;  // standard deviation of a slowdown, as a share of its mean
    double jam_density = 125;         // cars at a standstill per km of one lane
    double stop_probability = 0.05;   // probability that a car stops within 100 km
    double stop_mean = 900;
    double stop_deviation = 300;
    bool accidents = true;
    double accident_variance = 0.03;  // variance of cars/capacity at accidents; the mean is 1/2
    double accident_mean = 3600;
    double accident_deviation = 1800;
    double handover = 1;  // time of a car on the boundary of two objects; the model's lookahead
};

// Returns a Gaussian value. Draws again until the value is positive.
double positive_normal(nw::Random& random, double mean, double deviation);

// Returns a car's speed on an empty road: Gaussian, drawn again until it is at least a quarter of
// the mean. Slower cars would be unrealistic, and the mean of length/speed exists only if the
// speeds have a lower bound above 0.
double free_speed(nw::Random& random, const RoadParameters& parameters);

// Returns the time in which a car crosses a road: length/speed plus a slowdown. `fullness`, below
// called f, is the number of cars on the road divided by the capacity of the road. The slowdown is
// Gaussian with mean length/speed * f/(1-f); a negative slowdown counts as 0. So the mean speed
// falls with traffic as speed * (1-f) (Greenshields, "A study of traffic capacity", 1935), and on
// an empty road there is no slowdown.
double crossing_time(nw::Random& random, double length_km, double fullness,
                     const RoadParameters& parameters);

// Returns the distance in km from one stop to the next. The distance is exponential. The
// probability that a car stops within 100 km is stop_probability. Returns infinity if
// stop_probability is 0.
double way_to_stop(nw::Random& random, const RoadParameters& parameters);

// Returns the probability that the arrival of a car causes an accident. `cars` includes this car.
// The probability is the integral of a normal curve over the number of cars, from cars - 1/2 to
// cars + 1/2. The mean of the curve is capacity/2, because few cars seldom meet, and many cars
// drive slowly.
double accident_probability(double cars, double capacity, const RoadParameters& parameters);

}  // namespace traffic
