// The ranks of a run as the main thread sees them before and after the event loop, where everybody
// waits for everybody. Backends: one process that nobody launched (SingleProcess), MPI (mpi/).
//
// Thread: the main thread, never while workers run, or worker 0 while all stand still and it holds the network. Calls
// are collective unless they say otherwise:
// each rank makes the same calls in the same order.
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

    // Not collective. Throws MachineError where this rank cannot run an event loop together with others.
    virtual void check() const {}

    // The name of the machine this rank runs on; equal for ranks on the same one.
    virtual std::string host() const = 0;

    // What every rank says, by rank, known to all.
    virtual std::vector<std::string> share(const std::string& own) = 0;

    // Not collective: a message from one rank to another; both sides know how many there will be. The
    // sender waits until the receiver takes it, so that nothing piles up.
    virtual void send(RankId to, const std::string& bytes) = 0;
    virtual std::string receive(RankId from) = 0;

    // The transport for the event loop; one at a time. `largest_message`: bytes of the
    // largest one that a batch has to hold. `by_host`: reductions may make use of ranks that share memory.
    virtual std::unique_ptr<Transport> open_transport(std::size_t largest_message,
                                                      bool by_host = true) = 0;

    // Not collective. Ends all ranks at once: one of them cannot go on and the others may be anywhere.
    // Returns only where there are no others.
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
