// The port through which events leave a rank. Backends: one rank (single_rank.hpp), a seeded
// in-process network for tests (tests/support/in_process_network.hpp), MPI (mpi/).
//
// Thread: whoever holds the rank's net role (a try-lock); never two threads at a time. No call
// blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <numawarp/ids.hpp>

#include "net/contribution.hpp"

namespace nw {

class Transport {
  public:
    using Receive = std::function<void(std::span<const std::byte>)>;

    virtual ~Transport() = default;

    virtual RankId rank() const noexcept = 0;
    virtual std::uint32_t ranks() const noexcept = 0;

    // A batch is best closed at this size; only one event that is larger by itself may exceed it.
    // (Unless a backend knows better: what Open MPI sends at once by default, less its header.)
    virtual std::size_t batch_bytes() const noexcept { return 3840; }

    // Takes a batch of wire events for another rank; the bytes are copied or sent before it returns.
    virtual void send(RankId destination, std::span<const std::byte> batch) = 0;

    // Batches that send() took and that may still be in this rank's memory.
    virtual std::size_t sends_under_way() const noexcept { return 0; }

    // Hands over about `batches_max` batches that have arrived. Batches of one pair of ranks may
    // overtake each other.
    virtual void receive(std::size_t batches_max, const Receive& take) = 0;

    // Starts the one reduction of a GVT round; every rank starts each round once, in order.
    virtual void begin_reduce(const Contribution& own) = 0;

    // True once the result over all ranks is in `result`.
    virtual bool poll_reduce(Contribution& result) = 0;
};

}  // namespace nw
