// Seeds for random tests: a few new ones each run, or the one in NUMAWARP_TEST_SEED, or from
// NUMAWARP_FIRST_SEED on.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace nw::test {

inline std::vector<std::uint64_t> test_seeds(std::size_t count) {
    if (const char* seed = std::getenv("NUMAWARP_TEST_SEED"))
        return {std::strtoull(seed, nullptr, 10)};
    const char* first = std::getenv("NUMAWARP_FIRST_SEED");
    std::random_device device;
    std::vector<std::uint64_t> seeds;
    for (std::size_t i = 0; i < count; ++i)
        seeds.push_back(first != nullptr ? std::strtoull(first, nullptr, 10) + i : device());
    return seeds;
}

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    // Uniform in {0, …, bound-1}.
    std::size_t below(std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>(0, bound - 1)(engine_);
    }
    bool chance(double share) {
        return std::uniform_real_distribution<double>(0, 1)(engine_) < share;
    }

  private:
    std::mt19937_64 engine_;
};

}  // namespace nw::test
