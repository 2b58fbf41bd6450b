// SPDX-License-Identifier: Apache-2.0
// The port through which bytes leave a rank: batches for other ranks, and values that are reduced
// over all ranks. The transport does not interpret the bytes. Backends: one rank (single_rank.hpp),
// a seeded in-process network for tests (tests/support/in_process_network.hpp), MPI (mpi/).
//
// Thread: the holder of the rank's net role (a try-lock), never two threads at a time. No call
// blocks, except sleep().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>

#include <numawarp/ids.hpp>

namespace nw {

class Transport {
  public:
    using Receive = std::function<void(std::span<const std::byte>)>;

    virtual ~Transport() = default;

    virtual RankId rank() const noexcept = 0;
    virtual std::uint32_t ranks() const noexcept = 0;

    // The size at which a batch should be closed. Only a batch of a single larger message may
    // exceed this size. The default is the size that Open MPI sends at once by default, minus its
    // header.
    virtual std::size_t batch_bytes() const noexcept { return 3840; }

    // Takes a batch for another rank. The bytes are copied or sent before the function returns.
    virtual void send(RankId destination, std::span<const std::byte> batch) = 0;

    // The number of batches that send() took and that may still be in this rank's memory.
    virtual std::size_t sends_under_way() const noexcept { return 0; }

    // Calls take(batch) for about `batches_max` batches that have arrived. Batches from one rank to
    // another may overtake each other.
    virtual void receive(std::size_t batches_max, const Receive& take) = 0;

    // The largest size of a reduced value, in bytes. Every backend must support it.
    static constexpr std::size_t value_bytes_max(std::uint32_t ranks) noexcept {
        return 1024 + ranks * sizeof(std::uint32_t);
    }

    // Starts a reduction over all ranks. Each rank starts all reductions, in the same order and one
    // at a time. combine() is associative and commutative. All values have the same size. Use
    // CountedReduction and not this function.
    using Combine = void (*)(void* sum, const void* other);
    virtual void begin_reduce_bytes(std::span<const std::byte> own, Combine combine) = 0;
    // Returns true when the reduction has ended; `result` then contains the result.
    virtual bool poll_reduce_bytes(std::span<std::byte> result) = 0;

    // Whether the end of a reduction wakes a thread in sleep().
    virtual bool can_sleep() const noexcept { return false; }
    // Blocks until wake() is called or a reduction may have ended, but at most for a millisecond,
    // because arriving batches and sends under way do not wake the thread. Returns at once if
    // has_work() returns true. has_work() is called when this thread is already marked as asleep
    // for other threads. Returns false if the time has elapsed without a wake-up and without work.
    // Thread: one thread of the rank, which does not hold the net role.
    virtual bool sleep(const std::function<bool()>& has_work) { return has_work(); }
    // Thread: any.
    virtual void wake() noexcept {}
};

}  // namespace nw
