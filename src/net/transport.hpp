// The port through which bytes leave a rank: batches for other ranks, and values that are reduced over
// all of them. What they mean, only who uses it knows. Backends: one rank (single_rank.hpp), a seeded
// in-process network for tests (tests/support/in_process_network.hpp), MPI (mpi/).
//
// Thread: whoever holds the rank's net role (a try-lock); never two threads at a time. No call
// blocks.
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

    // A batch is best closed at this size; only one message that is larger by itself may exceed it.
    // (Unless a backend knows better: what Open MPI sends at once by default, less its header.)
    virtual std::size_t batch_bytes() const noexcept { return 3840; }

    // Takes a batch for another rank; the bytes are copied or sent before it returns.
    virtual void send(RankId destination, std::span<const std::byte> batch) = 0;

    // Batches that send() took and that may still be in this rank's memory.
    virtual std::size_t sends_under_way() const noexcept { return 0; }

    // Hands over about `batches_max` batches that have arrived. Batches of one pair of ranks may
    // overtake each other.
    virtual void receive(std::size_t batches_max, const Receive& take) = 0;

    // Of a value that is reduced: so much at least must do.
    static constexpr std::size_t value_bytes_max(std::uint32_t ranks) noexcept {
        return 1024 + ranks * sizeof(std::uint32_t);
    }

    // Starts a reduction over all ranks; every rank starts each once, in order, and one at a time. combine() is
    // associative and commutative. All values have the same size. (CountedReduction is the way to use it.)
    using Combine = void (*)(void* sum, const void* other);
    virtual void begin_reduce_bytes(std::span<const std::byte> own, Combine combine) = 0;
    // True once the result over all ranks is in `result`.
    virtual bool poll_reduce_bytes(std::span<std::byte> result) = 0;

    // Whether sleep() is woken by the end of a reduction.
    virtual bool can_sleep() const noexcept { return false; }
    // Thread: one of this rank's, without the net role. Gives the core away until a reduction may have ended, or wake(), or for a
    // millisecond, since batches wake nobody, nor do sends that have to be looked after; unless has_work() says, now that others see it asleep, that there is
    // something to do. Returns whether there is a reason to be awake but the time.
    virtual bool sleep(const std::function<bool()>& has_work) { return has_work(); }
    // Thread: any.
    virtual void wake() noexcept {}
};

}  // namespace nw
