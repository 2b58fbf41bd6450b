// Where the ranks of a host lay down what is to be reduced, in memory that they share: the last to come combines it.
// MPI's own reduction takes 2 ⌈log₂ P⌉ messages one after the other, and each waits until its receiver has a core and
// looks.
//
// Thread: the holder of the net role; constructor and destructor: the main thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/transport.hpp"
#include "numa/os/bell.hpp"

namespace nw {

class HostBoard {
  public:
    // Collective over all of `ranks`. Values have at most `bytes_max`. `shared`: else, and where this host's
    // ranks cannot share memory, each has a board to itself.
    HostBoard(MPI_Comm ranks, std::size_t bytes_max, bool shared);
    ~HostBoard();
    HostBoard(const HostBoard&) = delete;
    HostBoard& operator=(const HostBoard&) = delete;

    // Of those that have this board.
    bool is_first() const noexcept { return member_ == 0; }

    // Everybody's once for each reduction. Requires: the last one has been read by this rank.
    void put(std::span<const std::byte> own, Transport::Combine combine);
    // sum() is that of all who have this board.
    bool is_combined() const noexcept { return board_->combined.load() == put_; }

    // Thread: the first one's. sum() is final.
    void publish() noexcept {
        board_->published.store(put_);
        ring_all();
    }
    bool is_published() const noexcept { return board_->published.load() == put_; }

    bool is_shared() const noexcept { return members_ > 1; }
    // This rank's. Everybody's is rung when a reduction is combined or published.
    Bell& bell() noexcept { return bells()[member_]; }

    std::span<std::byte> sum() const noexcept { return {slot(members_), bytes_}; }

  private:
    // How many reductions there have been. Behind it stand the ranks' bells, and slots: each rank's value, and the
    // sum.
    struct Board {
        alignas(64) std::atomic<std::uint32_t> arrivals{0};  // of all ranks together
        alignas(64) std::atomic<std::uint32_t> combined{0};
        alignas(64) std::atomic<std::uint32_t> published{0};
    };
    struct alignas(64) OwnBell : Bell {};
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "processes share them");

    void* share_memory();
    std::size_t board_bytes() const noexcept;
    std::size_t memory_bytes() const noexcept;  // with what aligning it may take
    OwnBell* bells() const noexcept { return reinterpret_cast<OwnBell*>(board_ + 1); }
    std::byte* slot(int member) const noexcept {
        return reinterpret_cast<std::byte*>(bells() + members_) +
               static_cast<std::size_t>(member) * slot_bytes_;
    }
    void ring_all() noexcept {
        for (int m = 0; m < members_; ++m) bells()[m].ring();
    }

    MPI_Comm host_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<std::byte> own_memory_;  // without a window
    int members_ = 1, member_ = 0;
    std::size_t slot_bytes_;
    Board* board_ = nullptr;

    std::uint32_t put_ = 0;  // reductions
    std::size_t bytes_ = 0;  // of a value
};

}  // namespace nw
