// SPDX-License-Identifier: Apache-2.0
// Seeds for random tests, and random numbers drawn from a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

namespace nw::test {

// The value of an environment variable, if it is set.
inline std::optional<std::uint64_t> number_from(const char* variable) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::optional<std::uint64_t>(std::strtoull(text, nullptr, 10))
                           : std::nullopt;
}

// The seed of the only case to run, if one is requested.
inline std::optional<std::uint64_t> seed_to_replay() { return number_from("NUMAWARP_TEST_SEED"); }

// Returns `count` new random seeds. If NUMAWARP_FIRST_SEED is set, returns the `count` seeds from
// this number on. If a seed is to be replayed, returns only this seed.
inline std::vector<std::uint64_t> test_seeds(std::size_t count) {
    if (const auto seed = seed_to_replay()) return {*seed};
    const auto first = number_from("NUMAWARP_FIRST_SEED");
    std::random_device device;
    std::vector<std::uint64_t> seeds;
    for (std::size_t i = 0; i < count; ++i) seeds.push_back(first ? *first + i : device());
    return seeds;
}

// If a seed is to be replayed, calls compare() for this seed only, and returns false. Otherwise
// calls compare() for `cases` seeds from `first_seed` on, and returns true.
template <class Compare>
bool compare_all(std::uint64_t first_seed, std::size_t cases, Compare compare) {
    if (const auto seed = seed_to_replay()) {
        compare(*seed);
        return false;
    }
    for (std::size_t i = 0; i < cases; ++i) compare(first_seed + i);
    return true;
}

// The seed of the first case of a nightly test. Prints the seed.
inline std::uint64_t nightly_seed() {
    const std::uint64_t seed = number_from("NUMAWARP_FIRST_SEED").value_or(std::random_device()());
    std::printf("first seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    return seed;
}

// The number of cases of a nightly test.
inline std::size_t nightly_cases(std::size_t standard) {
    return number_from("NUMAWARP_TEST_CASES").value_or(standard);
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
