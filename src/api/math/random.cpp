// SPDX-License-Identifier: Apache-2.0
#include <numawarp/random.hpp>

#include <cmath>

#include <Random123/philox.h>

#include "api/math/portable_math.hpp"

namespace nw {

void Random::make_block() noexcept {
    const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(counter_),
                                                 static_cast<std::uint32_t>(counter_ >> 32),
                                                 stream_, 0}};
    const r123::Philox4x32::key_type key = {
        {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
    // The scalar version is used. A vector version has fewer instructions, but its chain of
    // dependent instructions is longer, and an event waits for the end of this chain (PHOLD without
    // an engine: 48 ns per event with the vector version, 40 ns with the scalar version).
    const auto out = r123::Philox4x32()(counter, key);
    block_[1] = (std::uint64_t{out[1]} << 32) | out[0];
    block_[0] = (std::uint64_t{out[3]} << 32) | out[2];
}

double Random::exponential(double mean) noexcept {
    return -mean * portable::log(uniform_positive());
}

double Random::erlang(unsigned shape, double mean) noexcept {
    // The sum of logarithms is used, because a product of uniforms underflows for large shapes.
    double sum = 0;
    for (unsigned i = 0; i < shape; ++i) sum += portable::log(uniform_positive());
    return -mean / shape * sum;
}

double Random::normal(double mean, double deviation) noexcept {
    // The square root has the same bits on every machine, because IEEE 754 requires correct
    // rounding.
    const double radius = std::sqrt(-2.0 * portable::log(uniform_positive()));
    return mean + deviation * radius * portable::cos_turn(uniform());
}

}  // namespace nw
