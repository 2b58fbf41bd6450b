// SPDX-License-Identifier: Apache-2.0
// Connects the ranks of a run before and after the event loop, when ranks may wait for each other.
// Backends: SingleProcess, for a process that was started without a launcher, and MPI (mpi/).
//
// Thread: the main thread while no worker runs, or worker 0 while all workers are stopped and
// worker 0 has the net role. Unless its comment states otherwise, a call is collective: each rank
// makes the same calls in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <numawarp/ids.hpp>

#include "net/single_rank.hpp"
#include "net/transport.hpp"

namespace nw {

class RankGroup {
  public:
    virtual ~RankGroup() = default;

    virtual RankId rank() const noexcept = 0;
    virtual std::uint32_t ranks() const noexcept = 0;
    bool is_first() const noexcept { return index(rank()) == 0; }

    // Not collective. Throws MachineError if this rank cannot execute an event loop together with
    // other ranks.
    virtual void check() const {}

    // The name of the machine on which this rank runs; equal for ranks on the same machine.
    virtual std::string host() const = 0;

    // Returns the values `own` of all ranks, in the order of ranks. The result is the same on every
    // rank.
    virtual std::vector<std::string> share(const std::string& own) = 0;

    // Not collective. Passes a message from one rank to another. For each call of send(), the other
    // rank must call receive(). send() waits until the receiver takes the message, so that messages
    // do not accumulate.
    virtual void send(RankId to, const std::string& bytes) = 0;
    virtual std::string receive(RankId from) = 0;

    // Opens the transport for the event loop; only one may be open. `largest_message`: the size in
    // bytes of the largest message that a batch must hold. `by_host`: reductions may use memory
    // that the ranks of a host share.
    virtual std::unique_ptr<Transport> open_transport(std::size_t largest_message,
                                                      bool by_host = true) = 0;

    // Not collective. Ends all ranks at once: one rank cannot continue, and the other ranks may be
    // at any place in the program. Returns only if there are no other ranks.
    virtual void abort(int exit_code) noexcept = 0;
};

class SingleProcess final : public RankGroup {
  public:
    RankId rank() const noexcept override { return RankId{0}; }
    std::uint32_t ranks() const noexcept override { return 1; }
    std::string host() const override { return {}; }
    std::vector<std::string> share(const std::string& own) override { return {own}; }
    void send(RankId, const std::string&) override {
        check_failed("a single rank has no peer", __FILE__, __LINE__);
    }
    std::string receive(RankId) override {
        check_failed("a single rank has no peer", __FILE__, __LINE__);
    }
    std::unique_ptr<Transport> open_transport(std::size_t, bool = true) override {
        return std::make_unique<SingleRank>();
    }
    void abort(int) noexcept override {}
};

}  // namespace nw
