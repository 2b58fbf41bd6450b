// The transport of a run with one rank: nobody to talk to, and the reduction is the identity.
#pragma once

#include "base/check.hpp"
#include "net/transport.hpp"

namespace nw {

class SingleRank final : public Transport {
  public:
    RankId rank() const noexcept override { return RankId{0}; }
    std::uint32_t ranks() const noexcept override { return 1; }
    void send(RankId, std::span<const std::byte>) override {
        check_failed("a single rank has no peer", __FILE__, __LINE__);
    }
    void receive(std::size_t, const Receive&) override {}
    void begin_reduce(const Contribution& own) override { result_ = own; }
    bool poll_reduce(Contribution& result) override {
        result = result_;
        return true;
    }

  private:
    Contribution result_;
};

}  // namespace nw
