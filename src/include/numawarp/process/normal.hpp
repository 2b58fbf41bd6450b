// SPDX-License-Identifier: Apache-2.0
// Normal variates for processes. Processes draw a normal variate for most of their waits. The
// ziggurat method makes 98 of 100 variates with one draw, one multiplication and no logarithm
// (Marsaglia and Tsang: "The ziggurat method for generating random variables", 2000; in the form of
// Doornik: "An improved ziggurat method to generate normal random samples", 2005). It uses only
// functions of numawarp/math.hpp, so the bits are equal everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <numawarp/math.hpp>
#include <numawarp/random.hpp>

namespace nw::detail {

class Ziggurat {
  public:
    Ziggurat() noexcept {
        double height = math::exp(-0.5 * edge * edge);
        x_[0] = area / height;
        x_[1] = edge;
        for (std::size_t i = 2; i < layers; ++i) {
            x_[i] = math::sqrt(-2 * math::log(area / x_[i - 1] + height));
            height = math::exp(-0.5 * x_[i] * x_[i]);
        }
        x_[layers] = 0;
        for (std::size_t i = 0; i < layers; ++i) inside_[i] = x_[i + 1] / x_[i];
    }

    // A variate with mean 0 and deviation 1.
    double draw(Random& random) const noexcept {
        for (;;) {
            const std::uint64_t bits = random.bits();
            const std::size_t layer = bits % layers;
            const double u = static_cast<double>(bits >> 11) * 0x1.0p-52 - 1;  // in [-1, 1)
            const double x = u * x_[layer];
            if ((u < 0 ? -u : u) < inside_[layer]) [[likely]]
                return x;
            if (layer == 0) return tail(random, u < 0);
            const double upper = math::exp(-0.5 * (x_[layer] * x_[layer] - x * x));
            const double lower = math::exp(-0.5 * (x_[layer + 1] * x_[layer + 1] - x * x));
            if (lower + random.uniform() * (upper - lower) < 1) return x;
        }
    }

  private:
    static constexpr std::size_t layers = 128;
    static constexpr double edge = 3.442619855899;  // where the tail begins
    static constexpr double area = 9.91256303526217e-3;

    static double tail(Random& random, bool is_negative) noexcept {
        double x, y;
        do {
            x = -math::log(random.uniform_positive()) / edge;
            y = -math::log(random.uniform_positive());
        } while (y + y < x * x);
        return is_negative ? -edge - x : edge + x;
    }

    std::array<double, layers + 1> x_;
    std::array<double, layers> inside_;
};

inline const Ziggurat ziggurat;

}  // namespace nw::detail
