// The rules by which single cars drive, as functions of a random stream and nothing else.
// Times in seconds, lengths in km, speeds in km/h. Sources in docs/models/traffic.md.
#pragma once

#include <numawarp/model.hpp>

namespace traffic {

struct RoadParameters {
    unsigned erlang_shape = 2;
    double speed_mean = 110;
    double speed_deviation = 20;
    double slowdown_deviation = 0.3;  // of the slowdown, as a share of its mean
    double jam_density = 125;         // cars that stand on a km of one lane
    double stop_probability = 0.05;   // that a car stops within 100 km
    double stop_mean = 900;
    double stop_deviation = 300;
    bool accidents = true;
    double accident_variance = 0.03;  // of cars/capacity at which accidents happen
    double accident_mean = 3600;
    double accident_deviation = 1800;
    double handover = 1;  // a car's way over the boundary between two objects
};

// Gaussian, cut to positive values by drawing again.
double positive_normal(nw::Random& random, double mean, double deviation);

// A car's speed on an empty road: Gaussian, cut below a quarter of the mean. Slower than that it
// would be a hazard, not a car; and the mean of length/speed exists only if speeds stay off zero.
double free_speed(nw::Random& random, const RoadParameters& parameters);

// How long a car takes over a road that holds the share f of the cars that can stand on it:
// length/speed, and a slowdown, Gaussian with mean length/speed * f/(1-f) and cut at 0. So the mean
// speed falls with traffic as speed * (1-f) (Greenshields, "A study of traffic capacity", 1935),
// and on an empty road there is no slowdown.
double crossing_time(nw::Random& random, double length_km, double fullness,
                     const RoadParameters& parameters);

// How many km are driven from one stop to the next: exponential, so that a car stops within 100 km
// with the given probability.
double way_to_stop(nw::Random& random, const RoadParameters& parameters);

// That the arrival of a car, now one of `cars`, leads to an accident: a normal curve over the
// number of cars with mean capacity/2, integrated from cars - 1/2 to cars + 1/2. Few cars seldom
// meet; many drive slowly.
double accident_probability(double cars, double capacity, const RoadParameters& parameters);

}  // namespace traffic
