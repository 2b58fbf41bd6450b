// SPDX-License-Identifier: Apache-2.0
// A network of several ranks inside one test thread, driven by a seed: batches are delayed and
// reordered, reductions complete late, links stall. The same seed gives the same schedule, so that
// a failure can be replayed.
//
// Time is the number of ticks; the test calls tick() between the turns of workers.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "net/transport.hpp"

namespace nw {

struct NetworkWeather {
    std::uint32_t delay_max = 20;     // maximum number of ticks that a batch or reduction takes
    double stall_probability = 0.01;  // per tick and rank: the rank receives nothing for a while
    std::uint32_t stall_max = 200;    // ticks
};

class InProcessNetwork {
  public:
    InProcessNetwork(std::uint32_t ranks, std::uint64_t seed, NetworkWeather weather = {});
    ~InProcessNetwork();

    Transport& rank(std::uint32_t rank);
    void tick();
    bool idle() const noexcept;  // true if no batch is in flight

  private:
    class Endpoint;
    struct Batch {
        std::uint64_t due;
        std::vector<std::byte> bytes;
    };
    struct Round {
        std::vector<std::byte> sum;
        std::uint32_t contributed = 0;
        std::vector<std::uint64_t> due;  // by rank; set when all ranks have contributed
    };

    std::uint64_t delay();
    Round& round(std::uint64_t number);

    std::mt19937_64 random_;
    NetworkWeather weather_;
    std::uint64_t now_ = 0;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    std::vector<Round> rounds_;
};

}  // namespace nw
