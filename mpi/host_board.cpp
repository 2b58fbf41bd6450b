// SPDX-License-Identifier: Apache-2.0
#include "mpi/host_board.hpp"

#include <cstring>
#include <memory>
#include <new>

#include "mpi/mpi_check.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

constexpr std::size_t line_bytes = 64;

std::size_t in_lines(std::size_t bytes) noexcept {
    return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

}  // namespace

std::size_t HostBoard::board_bytes() const noexcept {
    const auto members = static_cast<std::size_t>(members_);
    return sizeof(Board) + members * sizeof(OwnWakeSignal) + (members + 1) * slot_bytes_;
}
std::size_t HostBoard::memory_bytes() const noexcept { return board_bytes() + line_bytes; }

HostBoard::HostBoard(MPI_Comm ranks, std::size_t bytes_max, bool shared)
    : slot_bytes_(in_lines(bytes_max)) {
    mpi_check(MPI_Comm_split_type(ranks, shared ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0,
                                  MPI_INFO_NULL, &host_),
              "MPI_Comm_split_type");
    void* memory = shared ? share_memory() : nullptr;
    if (memory == nullptr) {
        members_ = 1;
        member_ = 0;
        own_memory_.resize(memory_bytes());
        memory = own_memory_.data();
    }
    // Shared memory begins at a page boundary in each rank, so the aligned board has the same
    // offset for all ranks.
    std::size_t space = memory_bytes();
    board_ = static_cast<Board*>(std::align(line_bytes, board_bytes(), memory, space));
    if (is_first()) {
        new (board_) Board;
        std::uninitialized_default_construct_n(wake_signals(), members_);
    }
    if (members_ > 1) mpi_check(MPI_Barrier(host_), "MPI_Barrier");
}

HostBoard::~HostBoard() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    if (host_ != MPI_COMM_NULL) MPI_Comm_free(&host_);
}

// Returns memory that all ranks of the host share. The first rank allocates all of this memory, as
// its part of an MPI window. Returns null if this rank is alone on its host or if a rank cannot
// allocate the window. Collective over the ranks of the host.
void* HostBoard::share_memory() {
    mpi_check(MPI_Comm_size(host_, &members_), "MPI_Comm_size");
    mpi_check(MPI_Comm_rank(host_, &member_), "MPI_Comm_rank");
    if (members_ == 1) return nullptr;
    const auto bytes = static_cast<MPI_Aint>(is_first() ? memory_bytes() : 0);
    void* memory = nullptr;
    const int error = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host_, &memory, &window_);
    int has_failed = error != MPI_SUCCESS ? 1 : 0, some_have_failed = 0;
    mpi_check(MPI_Allreduce(&has_failed, &some_have_failed, 1, MPI_INT, MPI_MAX, host_),
              "MPI_Allreduce");
    if (some_have_failed != 0) return nullptr;
    MPI_Aint size = 0;
    int unit = 0;
    mpi_check(MPI_Win_shared_query(window_, 0, &size, &unit, &memory), "MPI_Win_shared_query");
    return memory;
}

void HostBoard::put(std::span<const std::byte> own, Transport::Combine combine) {
    NW_CHECK(own.size() <= slot_bytes_);
    bytes_ = own.size();
    std::memcpy(slot(member_), own.data(), own.size());
    ++put_;
    const auto members = static_cast<std::uint32_t>(members_);
    if (board_->arrivals.fetch_add(1, std::memory_order_acq_rel) + 1 != put_ * members) return;
    std::memcpy(slot(members_), slot(0), bytes_);
    for (int m = 1; m < members_; ++m) combine(slot(members_), slot(m));
    board_->combined.store(put_);
    raise_all();
}

}  // namespace nw
