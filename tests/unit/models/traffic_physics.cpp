// SPDX-License-Identifier: Apache-2.0
// Compares the driving of single cars with theory: crossing times, slowdown and accidents.
#include <cmath>
#include <numbers>

#include <numawarp/random.hpp>

#include "models/traffic/road_physics.hpp"
#include "tests/support/catch.hpp"

namespace {

constexpr int samples = 200'000;

// The limit is four standard errors. A correct mean exceeds the limit once in 16,000 tests, and the
// seed is fixed.
struct Estimate {
    double mean = 0;
    double error = 0;
    bool agrees_with(double value) const { return std::abs(mean - value) <= 4 * error; }
};

template <class Draw>
Estimate estimate(Draw draw) {
    double sum = 0, squares = 0;
    for (int i = 0; i < samples; ++i) {
        const double x = draw();
        sum += x;
        squares += x * x;
    }
    const double mean = sum / samples;
    return {mean, std::sqrt((squares / samples - mean * mean) / samples)};
}

// The mean of f(speed) over a normal distribution that is cut off below mean/4, computed by the
// trapezoidal rule.
template <class Function>
double mean_over_speeds(const traffic::RoadParameters& p, Function f) {
    const double from = p.speed_mean / 4, to = p.speed_mean + 10 * p.speed_deviation;
    constexpr int steps = 100'000;
    double sum = 0, weight = 0;
    for (int i = 0; i <= steps; ++i) {
        const double v = from + (to - from) * i / steps;
        const double z = (v - p.speed_mean) / p.speed_deviation;
        const double density = std::exp(-z * z / 2) * (i == 0 || i == steps ? 0.5 : 1);
        sum += density * f(v);
        weight += density;
    }
    return sum / weight;
}

}  // namespace

TEST_CASE("Road physics: the mean crossing time of an empty road is length/speed") {
    const double length_km = 5.5;
    nw::Random random(1, 0, 0);

    SECTION("exactly if all cars drive at the same speed") {
        traffic::RoadParameters parameters;
        parameters.speed_deviation = 0;
        const double time = traffic::crossing_time(random, length_km, 0, parameters);
        CHECK(std::abs(time - length_km / 110 * 3600) < 1e-9);
    }
    SECTION("within its confidence interval for the average over Gaussian speeds") {
        const traffic::RoadParameters parameters;
        const Estimate time =
            estimate([&] { return traffic::crossing_time(random, length_km, 0, parameters); });
        const double theory =
            mean_over_speeds(parameters, [=](double v) { return length_km / v * 3600; });
        INFO(time.mean << " +- " << time.error << " s, theory " << theory << " s");
        CHECK(time.agrees_with(theory));
        // The mean of 1/speed is larger than 1/(mean speed), here by about 4 %.
        CHECK(theory > length_km / 110 * 3600);
    }
}

TEST_CASE("Road physics: with constant slowdowns speed falls with traffic as 1 - cars/capacity") {
    traffic::RoadParameters parameters;
    parameters.speed_deviation = 0;
    parameters.slowdown_deviation = 0;
    nw::Random random(1, 0, 0);
    const double empty = traffic::crossing_time(random, 10, 0, parameters);
    for (const double fullness : {0.1, 0.25, 0.5, 0.9}) {
        const double time = traffic::crossing_time(random, 10, fullness, parameters);
        CHECK(std::abs(time - empty / (1 - fullness)) < 1e-9 * time);
    }
    CHECK(std::isfinite(traffic::crossing_time(random, 10, 1.5, parameters)));
}

TEST_CASE("Road physics: speeds are Gaussian and positive and have the requested mean") {
    const traffic::RoadParameters parameters;
    nw::Random random(2, 0, 0);
    const Estimate speed = estimate([&] {
        const double v = traffic::free_speed(random, parameters);
        REQUIRE(v >= parameters.speed_mean / 4);
        return v;
    });
    CHECK(speed.agrees_with(mean_over_speeds(parameters, [](double v) { return v; })));
    CHECK(std::abs(speed.error * std::sqrt(double{samples}) - parameters.speed_deviation) < 0.2);
}

TEST_CASE("Road physics: the share of cars that stop within 100 km is the requested share") {
    traffic::RoadParameters parameters;
    parameters.stop_probability = 0.2;
    nw::Random random(3, 0, 0);
    const Estimate share =
        estimate([&] { return traffic::way_to_stop(random, parameters) < 100 ? 1.0 : 0.0; });
    CHECK(share.agrees_with(0.2));
    parameters.stop_probability = 0;
    CHECK(std::isinf(traffic::way_to_stop(random, parameters)));
}

TEST_CASE(
    "Road physics: accidents are most probable at half the capacity and all probabilities sum to "
    "one") {
    const traffic::RoadParameters parameters;
    const double capacity = 400;
    double sum = 0;
    // The probabilities are areas of adjacent pieces of a normal curve. Over all numbers of cars,
    // including impossible numbers, the probabilities add up to 1.
    for (int cars = -1000; cars <= 1400; ++cars) {
        const double p = traffic::accident_probability(cars, capacity, parameters);
        CHECK(p >= 0);
        CHECK(p <= traffic::accident_probability(capacity / 2, capacity, parameters));
        sum += p;
    }
    CHECK(std::abs(sum - 1) < 1e-9);
    const double few = traffic::accident_probability(100, capacity, parameters);
    const double many = traffic::accident_probability(300, capacity, parameters);
    CHECK(std::abs(few - many) < 1e-12);
    CHECK(few > traffic::accident_probability(10, capacity, parameters));
}
