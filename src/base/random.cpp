#include <numawarp/random.hpp>

#include <bit>
#include <cmath>
#include <numbers>

#include <Random123/philox.h>

namespace nw {
namespace {

// The natural logarithm of a positive normal number, with a relative error below 2^-50. The C
// library's is about as fast, but its last bit depends on whether the machine has fused
// multiply-add, and with it the path of every simulation: a run would not be the same on two nodes
// of a mixed cluster.
//
// Table-driven (Tang, 1990): x = 2^k z with z in [0.6875, 1.375); a table gives for z's interval a
// reciprocal c of few bits and log(1/c), and a short series log(1 + r) for r = cz - 1. The interval
// around 1 has c = 1, so that the result there is the series alone, and relatively as exact.
class Logarithm {
  public:
    double operator()(double x) const noexcept {
        const auto bits = std::bit_cast<std::uint64_t>(x);
        const std::uint64_t above = bits - std::bit_cast<std::uint64_t>(z_min);
        const auto k = static_cast<double>(static_cast<std::int64_t>(above) >> 52);
        const Interval& interval = table_[above >> (52 - index_bits) & (intervals - 1)];
        const std::uint64_t z_bits = bits - (above & (std::uint64_t{0xfff} << 52));
        // c has 10 bits: both products, and the difference, are exact.
        const double z = std::bit_cast<double>(z_bits);
        const double z_high = std::bit_cast<double>(z_bits & ~std::uint64_t{0x1fffff});
        const double r = (z_high * interval.c - 1) + (z - z_high) * interval.c;
        const double r2 = r * r;
        const double tail = r * (1.0 / 3) - 0.5 + r2 * ((0.2 * r - 0.25) + r2 * (r * (1.0 / 7) - (1.0 / 6)));
        return (k * std::numbers::ln2 + interval.log_inverse) + (r + r2 * tail);
    }

    constexpr Logarithm() {
        const auto first = std::bit_cast<std::uint64_t>(z_min);
        for (std::uint64_t i = 0; i < intervals; ++i) {
            const double low = std::bit_cast<double>(first + (i << (52 - index_bits)));
            const double high = std::bit_cast<double>(first + ((i + 1) << (52 - index_bits)));
            const auto rounded = static_cast<int>(512 / ((low + high) / 2) + 0.5);
            const double c = low <= 1 && 1 <= high ? 1 : rounded / 512.0;
            table_[i] = {c, log_inverse(c)};
        }
    }

  private:
    struct Interval {
        double c;
        double log_inverse;
    };
    static constexpr int index_bits = 7;
    static constexpr std::uint64_t intervals = 1 << index_bits;
    static constexpr double z_min = 0.6875;

    // log(1/c) = -2 artanh((c - 1)/(c + 1)), at compile time.
    static constexpr double log_inverse(double c) {
        const long double q = (static_cast<long double>(c) - 1) / (static_cast<long double>(c) + 1);
        long double sum = 0;
        long double power = q;
        for (int n = 1; n < 60; n += 2) {
            sum += power / n;
            power *= q * q;
        }
        return static_cast<double>(-2 * sum);
    }

    Interval table_[intervals]{};
};

constexpr Logarithm logarithm;

}  // namespace

void Random::refill() noexcept {
    const r123::Philox4x32::ctr_type counter = {
        {static_cast<std::uint32_t>(counter_), static_cast<std::uint32_t>(counter_ >> 32), stream_,
         0}};
    const r123::Philox4x32::key_type key = {
        {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
    const auto out = r123::Philox4x32()(counter, key);
    block_[1] = (std::uint64_t{out[1]} << 32) | out[0];
    block_[0] = (std::uint64_t{out[3]} << 32) | out[2];
    left_ = 2;
    ++counter_;
}

double Random::exponential(double mean) noexcept { return -mean * logarithm(uniform_positive()); }

double Random::erlang(unsigned shape, double mean) noexcept {
    // A product of uniforms would underflow for large shapes; a sum of logarithms does not.
    double sum = 0;
    for (unsigned i = 0; i < shape; ++i) sum += logarithm(uniform_positive());
    return -mean / shape * sum;
}

double Random::normal(double mean, double deviation) noexcept {
    const double radius = std::sqrt(-2.0 * logarithm(uniform_positive()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    return mean + deviation * radius * std::cos(angle);
}

}  // namespace nw
