// SPDX-License-Identifier: Apache-2.0
// Reduces values over the ranks of a host, in memory that the ranks share. Each rank stores its
// value. The last rank that stores its value combines all values. A reduction by MPI takes 2 ⌈log₂
// P⌉ messages in sequence, and each message waits until its receiver has a core and calls MPI.
//
// Thread: the holder of the net role. Constructor and destructor: the main thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/transport.hpp"
#include "numa/os/wake_signal.hpp"

namespace nw {

class HostBoard {
  public:
    // Collective over all of `ranks`. A value has at most `bytes_max` bytes. `shared`: the ranks of
    // a host share a board. If false, or if the ranks of this host cannot share memory, each rank
    // has its own board.
    HostBoard(MPI_Comm ranks, std::size_t bytes_max, bool shared);
    ~HostBoard();
    HostBoard(const HostBoard&) = delete;
    HostBoard& operator=(const HostBoard&) = delete;

    // True if this rank is the first of the ranks that share this board.
    bool is_first() const noexcept { return member_ == 0; }

    // Stores this rank's value. Each rank calls put() once for each reduction. The last of these
    // calls combines all values. Requires: this rank has read the result of the last reduction.
    void put(std::span<const std::byte> own, Transport::Combine combine);
    // True when sum() is the combination of the values of all ranks that share this board.
    bool is_combined() const noexcept { return board_->combined.load() == put_; }

    // Marks sum() as final, after the reduction over hosts. Thread: the holder of the net role in
    // the first rank.
    void publish() noexcept {
        board_->published.store(put_);
        raise_all();
    }
    bool is_published() const noexcept { return board_->published.load() == put_; }

    bool is_shared() const noexcept { return members_ > 1; }
    // This rank's wake signal. When a reduction is combined or published, the wake signals of all
    // ranks that share the board are raised.
    WakeSignal& wake_signal() noexcept { return wake_signals()[member_]; }

    std::span<std::byte> sum() const noexcept { return {slot(members_), bytes_}; }

  private:
    // Counts of reductions. In memory, the wake signals of the ranks follow the Board, and then the
    // slots: one slot for the value of each rank, and one slot for the sum.
    struct Board {
        alignas(64) std::atomic<std::uint32_t> arrivals{0};  // calls of put() by all ranks
        alignas(64) std::atomic<std::uint32_t> combined{0};
        alignas(64) std::atomic<std::uint32_t> published{0};
    };
    struct alignas(64) OwnWakeSignal : WakeSignal {};
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "processes share them");

    void* share_memory();
    std::size_t board_bytes() const noexcept;
    std::size_t memory_bytes() const noexcept;  // board_bytes() and a margin for alignment
    OwnWakeSignal* wake_signals() const noexcept {
        return reinterpret_cast<OwnWakeSignal*>(board_ + 1);
    }
    std::byte* slot(int member) const noexcept {
        return reinterpret_cast<std::byte*>(wake_signals() + members_) +
               static_cast<std::size_t>(member) * slot_bytes_;
    }
    void raise_all() noexcept {
        for (int m = 0; m < members_; ++m) wake_signals()[m].raise();
    }

    MPI_Comm host_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<std::byte> own_memory_;  // the board's memory if there is no shared memory
    int members_ = 1, member_ = 0;
    std::size_t slot_bytes_;
    Board* board_ = nullptr;

    std::uint32_t put_ = 0;  // calls of put() by this rank
    std::size_t bytes_ = 0;  // size of the last value
};

}  // namespace nw
