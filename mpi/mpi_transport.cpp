// SPDX-License-Identifier: Apache-2.0
#include "mpi/mpi_transport.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/mpi_check.hpp"
#include "mpi/waiting.hpp"
#include "util/check.hpp"

namespace nw {
namespace {

// Number of posted receives. There should be a posted buffer for each batch that arrives between
// two steps of the net role. Otherwise MPI stores the batch in a buffer of MPI, which costs a copy
// of at most 4 KB; the batch is not lost. A step receives about 16 batches (src/net/exchange.hpp).
// The other 16 buffers are for batches that arrive meanwhile.
constexpr std::size_t receives_posted = 32;
constexpr int batch_tag = 1;

// The function that combines the values of the current reduction. It is a global variable because
// MPI passes no user data to an operation. One variable is enough: there is one transport at a
// time, with one reduction at a time. Thread: the holder of the net role.
Transport::Combine combine_now = nullptr;

void combine_values(void* in, void* in_out, int* length, MPI_Datatype* type) {
    int bytes = 0;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *length; ++i)
        combine_now(static_cast<std::byte*>(in_out) + i * bytes,
                    static_cast<const std::byte*>(in) + i * bytes);
}

std::uint32_t size_of(MPI_Comm comm) {
    int ranks = 1;
    mpi_check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
    return static_cast<std::uint32_t>(ranks);
}

}  // namespace

MpiTransport::MpiTransport(MPI_Comm comm, std::size_t eager_bytes, std::size_t largest_message,
                           bool by_host)
    : batches_(duplicate(comm)),
      board_(batches_, value_bytes_max(size_of(batches_)), by_host),
      batch_bytes_(eager_bytes),
      buffer_bytes_(std::max(eager_bytes, largest_message)) {
    mpi_check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(comm, &ranks_), "MPI_Comm_size");
    const int is_first = board_.is_first() ? 1 : 0;
    mpi_check(MPI_Allreduce(&is_first, &hosts_, 1, MPI_INT, MPI_SUM, batches_), "MPI_Allreduce");
    mpi_check(MPI_Comm_split(batches_, is_first != 0 ? 0 : MPI_UNDEFINED, rank_, &leaders_),
              "MPI_Comm_split");
    mpi_check(MPI_Op_create(&combine_values, 1, &combine_), "MPI_Op_create");
    if (ranks_ == 1) return;
    receive_requests_.assign(receives_posted, MPI_REQUEST_NULL);
    completed_.resize(receives_posted);
    statuses_.resize(receives_posted);
    for (std::size_t slot = 0; slot < receives_posted; ++slot) {
        receive_buffers_.push_back(std::make_unique_for_overwrite<std::byte[]>(buffer_bytes_));
        post_receive(slot);
    }
}

MpiTransport::~MpiTransport() {
    for (MPI_Request& request : receive_requests_) {
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(static_cast<int>(send_requests_.size()), send_requests_.data(),
                MPI_STATUSES_IGNORE);
    MPI_Op_free(&combine_);
    if (value_ != MPI_DATATYPE_NULL) MPI_Type_free(&value_);
    if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
    MPI_Comm_free(&batches_);
}

void MpiTransport::send(RankId destination, std::span<const std::byte> batch) {
    NW_CHECK(batch.size() <= buffer_bytes_);
    // Completed sends are not collected here: receive() tests all requests once per step. A test
    // here would have the same cost for each batch.
    if (free_buffers_.empty())
        free_buffers_.push_back(std::make_unique_for_overwrite<std::byte[]>(buffer_bytes_));
    Buffer buffer = std::move(free_buffers_.back());
    free_buffers_.pop_back();
    std::memcpy(buffer.get(), batch.data(), batch.size());
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Isend(buffer.get(), static_cast<int>(batch.size()), MPI_BYTE,
                        static_cast<int>(index(destination)), batch_tag, batches_, &request),
              "MPI_Isend");
    send_requests_.push_back(request);
    send_buffers_.push_back(std::move(buffer));
}

void MpiTransport::complete_sends() {
    if (send_requests_.empty()) return;
    completed_.resize(std::max(completed_.size(), send_requests_.size()));
    int count = 0;
    mpi_check(MPI_Testsome(static_cast<int>(send_requests_.size()), send_requests_.data(), &count,
                           completed_.data(), MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    if (count <= 0) return;  // none, or MPI_UNDEFINED
    // The order is descending. So the last entry, which moves to the place of the completed send,
    // is either still under way or the completed send itself.
    std::sort(completed_.begin(), completed_.begin() + count, std::greater<>());
    for (int i = 0; i < count; ++i) {
        const auto done = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
        free_buffers_.push_back(std::move(send_buffers_[done]));
        send_buffers_[done] = std::move(send_buffers_.back());
        send_requests_[done] = send_requests_.back();
        send_buffers_.pop_back();
        send_requests_.pop_back();
    }
}

void MpiTransport::post_receive(std::size_t slot) {
    mpi_check(MPI_Irecv(receive_buffers_[slot].get(), static_cast<int>(buffer_bytes_), MPI_BYTE,
                        MPI_ANY_SOURCE, batch_tag, batches_, &receive_requests_[slot]),
              "MPI_Irecv");
}

void MpiTransport::receive(std::size_t batches_max, const Receive& take) {
    complete_sends();
    for (std::size_t received = 0; received < batches_max;) {
        int count = 0;
        mpi_check(MPI_Testsome(static_cast<int>(receive_requests_.size()), receive_requests_.data(),
                               &count, completed_.data(), statuses_.data()),
                  "MPI_Testsome");
        if (count <= 0) return;
        for (int i = 0; i < count; ++i) {
            const auto slot = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
            int bytes = 0;
            mpi_check(MPI_Get_count(&statuses_[static_cast<std::size_t>(i)], MPI_BYTE, &bytes),
                      "MPI_Get_count");
            take({receive_buffers_[slot].get(), static_cast<std::size_t>(bytes)});
            post_receive(slot);
        }
        received += static_cast<std::size_t>(count);
    }
}

void MpiTransport::begin_reduce_bytes(std::span<const std::byte> own, Combine combine) {
    NW_CHECK(!is_over_hosts_);
    combine_now = combine;
    board_.put(own, combine);
}

bool MpiTransport::poll_reduce_bytes(std::span<std::byte> result) {
    if (reduces_over_hosts()) {
        if (board_.is_first() && !board_.is_published()) step_over_hosts();
        if (!board_.is_published()) return false;
    } else if (!board_.is_combined()) {
        return false;
    }
    const std::span<const std::byte> sum = board_.sum();
    NW_CHECK(result.size() == sum.size());
    std::copy(sum.begin(), sum.end(), result.begin());
    return true;
}

void MpiTransport::step_over_hosts() {
    if (!board_.is_combined()) return;
    const std::span<std::byte> sum = board_.sum();
    if (!is_over_hosts_) {
        if (value_ == MPI_DATATYPE_NULL) {
            mpi_check(MPI_Type_contiguous(static_cast<int>(sum.size()), MPI_BYTE, &value_),
                      "MPI_Type_contiguous");
            mpi_check(MPI_Type_commit(&value_), "MPI_Type_commit");
            of_host_.resize(sum.size());
        }
        NW_CHECK(sum.size() == of_host_.size());
        std::copy(sum.begin(), sum.end(), of_host_.begin());
        mpi_check(MPI_Iallreduce(of_host_.data(), sum.data(), 1, value_, combine_, leaders_,
                                 &over_hosts_),
                  "MPI_Iallreduce");
        is_over_hosts_ = true;
    }
    int done = 0;
    mpi_check(MPI_Test(&over_hosts_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return;
    is_over_hosts_ = false;
    board_.publish();
}

}  // namespace nw
