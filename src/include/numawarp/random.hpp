// SPDX-License-Identifier: Apache-2.0
// An LP's random numbers. The generator is counter-based, so that a rollback has to restore only
// one counter.
//
// Block i of LP p in a run with seed s is Philox4x32-10(key = s, counter = (i, p)): 128 bits, which
// are two 64-bit draws (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). Each event starts with a fresh block, so a stream depends only on the seed, the LP, and
// the number of blocks that earlier events of the LP have used. It is equal on every engine and
// after every rollback.
//
// The distributions are implemented here, because the distributions of the standard library give
// different numbers on different systems.
#pragma once

#include <array>
#include <cstdint>

namespace nw {

// One LP's stream of random numbers, from Context::random(). Every draw is undone with its event.
class Random {
  public:
    // For engines and tests: the stream of LP number `stream` from block `counter` on.
    Random(std::uint64_t seed, std::uint32_t stream, std::uint64_t counter) noexcept
        : seed_(seed), counter_(counter), stream_(stream) {}

    // 64 uniform bits.
    std::uint64_t bits() noexcept {
        if (left_ == 0) next_block();
        return block_[--left_];
    }

    // Uniform in [0, 1), a multiple of 2^-53.
    double uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

    // Uniform in (0, 1], a multiple of 2^-53. The logarithm of the result is always finite.
    double uniform_positive() noexcept {
        return static_cast<double>((bits() >> 11) + 1) * 0x1.0p-53;
    }

    // Uniform in {0, …, bound-1}, with a bias below bound/2^64. Requires: bound > 0.
    std::uint64_t below(std::uint64_t bound) noexcept {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * bound) >> 64);
    }

    // True with the given probability: never with 0, always with 1.
    bool chance(double probability) noexcept { return uniform() < probability; }

    // Exponential with the given mean. The result 0 has probability 2^-53.
    double exponential(double mean) noexcept;

    // Erlang: the sum of `shape` exponential variates, with the given mean of the sum. Requires:
    // shape ≥ 1.
    double erlang(unsigned shape, double mean) noexcept;

    // Normal (Gaussian), by Box and Muller (1958). It always takes two draws. The second variate is
    // discarded, so that no state survives the event.
    double normal(double mean, double deviation) noexcept;

    // The number of blocks that this LP has used. The engine stores it and rolls it back.
    std::uint64_t counter() const noexcept { return counter_; }

    // For engines: switches to the stream of another LP of the same run.
    void restart(std::uint32_t stream, std::uint64_t counter) noexcept {
        counter_ = counter;
        stream_ = stream;
        left_ = 0;
        is_block_made_ = false;
    }

    // For engines: a block. The second draw is stored before the first draw.
    using Block = std::array<std::uint64_t, 2>;
    // For engines: supplies the block whose number is counter(), and which was computed ahead.
    // Requires: no draw since the constructor or restart().
    void give_block(const Block& block) noexcept {
        block_ = block;
        is_block_made_ = true;
    }

  private:
    void next_block() noexcept {
        if (!is_block_made_) make_block();
        is_block_made_ = false;
        left_ = 2;
        ++counter_;
    }
    void make_block() noexcept;

    std::uint64_t seed_;
    std::uint64_t counter_;
    // Valid: block_[0 .. left_-1]. Aligned, so that give_block() writes to one cache line.
    alignas(sizeof(Block)) Block block_;
    std::uint32_t stream_;
    std::uint16_t left_ = 0;
    bool is_block_made_ = false;  // block_ holds the next block
};

}  // namespace nw
