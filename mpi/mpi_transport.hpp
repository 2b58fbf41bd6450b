// Batches and reductions over MPI: batches as nonblocking messages of at most the eager limit, received
// into buffers that were posted beforehand from whoever sends; a reduction first over the ranks of each host
// (host_board.hpp), and then over hosts, as one MPI_Iallreduce with the caller's operation.
//
// A peer costs nothing until it is spoken to: buffers belong to messages under way, not to ranks. A
// send's buffer and request are kept until the request tested complete.
//
// Thread: the holder of the net role; constructor and destructor: the main thread.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "mpi/host_board.hpp"
#include "net/transport.hpp"

namespace nw {

class MpiTransport final : public Transport {
  public:
    // `eager_bytes`: what MPI sends at once; `largest_message`: what a batch of one message may
    // take. `by_host`: else reductions go as if each rank were on a host of its own. Collective.
    MpiTransport(MPI_Comm comm, std::size_t eager_bytes, std::size_t largest_message, bool by_host);
    // Requires: nothing is under way any more.
    ~MpiTransport() override;

    RankId rank() const noexcept override { return RankId{static_cast<std::uint32_t>(rank_)}; }
    std::uint32_t ranks() const noexcept override { return static_cast<std::uint32_t>(ranks_); }
    std::size_t batch_bytes() const noexcept override { return batch_bytes_; }

    void send(RankId destination, std::span<const std::byte> batch) override;
    void receive(std::size_t batches_max, const Receive& take) override;
    void begin_reduce_bytes(std::span<const std::byte> own, Combine combine) override;
    bool poll_reduce_bytes(std::span<std::byte> result) override;
    std::size_t sends_under_way() const noexcept override { return send_requests_.size(); }
    // Not where something may come from other hosts, which ring no bell.
    bool can_sleep() const noexcept override { return board_.is_shared() && hosts_ == 1; }
    bool sleep(const std::function<bool()>& has_work) override {
        return board_.bell().sleep(std::chrono::milliseconds(1), has_work);
    }
    void wake() noexcept override { board_.bell().ring(); }

  private:
    using Buffer = std::unique_ptr<std::byte[]>;

    void complete_sends();
    void post_receive(std::size_t slot);
    bool reduces_over_hosts() const noexcept { return hosts_ > 1; }
    void step_over_hosts();

    MPI_Comm batches_ = MPI_COMM_NULL;  // a communicator for each use: no tags to mix up
    HostBoard board_;
    MPI_Comm leaders_ = MPI_COMM_NULL;  // the first rank of each board
    int hosts_ = 1;                     // boards
    int rank_ = 0;
    int ranks_ = 1;
    std::size_t batch_bytes_;
    std::size_t buffer_bytes_;

    std::vector<MPI_Request> send_requests_;  // under way
    std::vector<Buffer> send_buffers_;        // of these
    std::vector<Buffer> free_buffers_;
    std::vector<MPI_Request> receive_requests_;
    std::vector<Buffer> receive_buffers_;  // of these
    std::vector<int> completed_;           // scratch for MPI_Testsome
    std::vector<MPI_Status> statuses_;

    // Of a reduction over hosts.
    MPI_Datatype value_ = MPI_DATATYPE_NULL;  // so many bytes
    MPI_Op combine_ = MPI_OP_NULL;
    MPI_Request over_hosts_ = MPI_REQUEST_NULL;
    bool is_over_hosts_ = false;  // it is under way
    std::vector<std::byte> of_host_;
};

}  // namespace nw
