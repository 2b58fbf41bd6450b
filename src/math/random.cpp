#include <numawarp/random.hpp>

#include <cmath>

#include <Random123/philox.h>

#include "math/portable_math.hpp"

namespace nw {

void Random::make_block() noexcept {
    const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(counter_),
                                                 static_cast<std::uint32_t>(counter_ >> 32),
                                                 stream_, 0}};
    const r123::Philox4x32::key_type key = {
        {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
    // The scalar rounds: a vector version has fewer instructions, but a longer chain of dependent
    // ones, which is what an event waits for (PHOLD without an engine: 48 against 40 ns an event).
    const auto out = r123::Philox4x32()(counter, key);
    block_[1] = (std::uint64_t{out[1]} << 32) | out[0];
    block_[0] = (std::uint64_t{out[3]} << 32) | out[2];
}

double Random::exponential(double mean) noexcept {
    return -mean * portable::log(uniform_positive());
}

double Random::erlang(unsigned shape, double mean) noexcept {
    // A product of uniforms would underflow for large shapes; a sum of logarithms does not.
    double sum = 0;
    for (unsigned i = 0; i < shape; ++i) sum += portable::log(uniform_positive());
    return -mean / shape * sum;
}

double Random::normal(double mean, double deviation) noexcept {
    // The square root is exact to the last bit everywhere: IEEE 754 asks for it.
    const double radius = std::sqrt(-2.0 * portable::log(uniform_positive()));
    return mean + deviation * radius * portable::cos_turn(uniform());
}

}  // namespace nw
