// SPDX-License-Identifier: Apache-2.0
// A rank that neither sends nor receives anything. A test derives a class with the communication
// that the test needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/rank_group.hpp"

namespace nw::test {

class SilentRank : public RankGroup {
  public:
    SilentRank(std::uint32_t rank, std::uint32_t ranks) noexcept : rank_(rank), ranks_(ranks) {}
    RankId rank() const noexcept override { return RankId{rank_}; }
    std::uint32_t ranks() const noexcept override { return ranks_; }
    std::string host() const override { return "here"; }
    std::vector<std::string> share(const std::string& own) override { return {own}; }
    void send(RankId, const std::string&) override {}
    std::string receive(RankId) override { return {}; }
    std::unique_ptr<Transport> open_transport(std::size_t, bool) override { return nullptr; }
    void abort(int) noexcept override {}

  private:
    std::uint32_t rank_;
    std::uint32_t ranks_;
};

}  // namespace nw::test
