// SPDX-License-Identifier: Apache-2.0
// Sends batches and reduces values over MPI. Each batch is sent as one nonblocking message. The
// size of a batch is at most the eager limit, unless the batch contains a single larger message.
// Receives are posted in advance, for messages from any rank. A reduction goes first over the ranks
// of each host (host_board.hpp), and then over the hosts, as one MPI_Iallreduce with the caller's
// operation.
//
// There is no cost for a rank that exchanges no messages with this rank: buffers belong to messages
// under way, not to ranks. The buffer and the request of a send are kept until a test of the
// request shows that the send is complete.
//
// Thread: the holder of the net role. Constructor and destructor: the main thread. wake(): any
// thread. sleep(): one thread that does not hold the net role.
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
    // Collective. `eager_bytes`: the size up to which MPI sends at once. `largest_message`: the
    // maximum size of a batch of one message, in bytes. `by_host`: the ranks of a host combine
    // their values in shared memory; if false, reductions treat each rank as a separate host.
    MpiTransport(MPI_Comm comm, std::size_t eager_bytes, std::size_t largest_message, bool by_host);
    // Requires: no batch and no reduction is under way.
    ~MpiTransport() override;

    RankId rank() const noexcept override { return RankId{static_cast<std::uint32_t>(rank_)}; }
    std::uint32_t ranks() const noexcept override { return static_cast<std::uint32_t>(ranks_); }
    std::size_t batch_bytes() const noexcept override { return batch_bytes_; }

    void send(RankId destination, std::span<const std::byte> batch) override;
    void receive(std::size_t batches_max, const Receive& take) override;
    void begin_reduce_bytes(std::span<const std::byte> own, Combine combine) override;
    bool poll_reduce_bytes(std::span<std::byte> result) override;
    std::size_t sends_under_way() const noexcept override { return send_requests_.size(); }
    // False if there are other hosts: ranks of other hosts cannot raise this rank's wake signal.
    bool can_sleep() const noexcept override { return board_.is_shared() && hosts_ == 1; }
    bool sleep(const std::function<bool()>& has_work) override {
        return board_.wake_signal().sleep(std::chrono::milliseconds(1), has_work);
    }
    void wake() noexcept override { board_.wake_signal().raise(); }

  private:
    using Buffer = std::unique_ptr<std::byte[]>;

    void complete_sends();
    void post_receive(std::size_t slot);
    bool reduces_over_hosts() const noexcept { return hosts_ > 1; }
    void step_over_hosts();

    MPI_Comm batches_ = MPI_COMM_NULL;  // separate from the communicator of RankGroup's messages
    HostBoard board_;
    MPI_Comm leaders_ = MPI_COMM_NULL;  // the first ranks of all boards; null in other ranks
    int hosts_ = 1;                     // number of boards
    int rank_ = 0;
    int ranks_ = 1;
    std::size_t batch_bytes_;
    std::size_t buffer_bytes_;

    std::vector<MPI_Request> send_requests_;  // under way
    std::vector<Buffer> send_buffers_;        // of send_requests_, same indices
    std::vector<Buffer> free_buffers_;
    std::vector<MPI_Request> receive_requests_;
    std::vector<Buffer> receive_buffers_;  // of receive_requests_, same indices
    std::vector<int> completed_;           // scratch for MPI_Testsome
    std::vector<MPI_Status> statuses_;

    // The state of a reduction over hosts.
    MPI_Datatype value_ = MPI_DATATYPE_NULL;  // the bytes of one value
    MPI_Op combine_ = MPI_OP_NULL;
    MPI_Request over_hosts_ = MPI_REQUEST_NULL;
    bool is_over_hosts_ = false;      // over_hosts_ is under way
    std::vector<std::byte> of_host_;  // the sum of this host
};

}  // namespace nw
