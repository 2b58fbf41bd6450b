// SPDX-License-Identifier: Apache-2.0
// The transport of a run with one rank. There are no other ranks to send to, and a reduction
// returns the rank's own value.
#pragma once

#include <algorithm>
#include <vector>

#include "net/transport.hpp"
#include "util/check.hpp"

namespace nw {

class SingleRank final : public Transport {
  public:
    RankId rank() const noexcept override { return RankId{0}; }
    std::uint32_t ranks() const noexcept override { return 1; }
    void send(RankId, std::span<const std::byte>) override {
        check_failed("a single rank has no peer", __FILE__, __LINE__);
    }
    void receive(std::size_t, const Receive&) override {}
    void begin_reduce_bytes(std::span<const std::byte> own, Combine) override {
        result_.assign(own.begin(), own.end());
    }
    bool poll_reduce_bytes(std::span<std::byte> result) override {
        NW_CHECK(result.size() == result_.size());
        std::copy(result_.begin(), result_.end(), result.begin());
        return true;
    }

  private:
    std::vector<std::byte> result_;
};

}  // namespace nw
