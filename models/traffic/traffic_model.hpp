// SPDX-License-Identifier: Apache-2.0
// The traffic model: its options, its set-up, and the map that it draws from the output of the run.
#pragma once

#include <memory>
#include <string>

#include <numawarp/model.hpp>

#include "models/traffic/network.hpp"
#include "models/traffic/road.hpp"

namespace traffic {

class TrafficModel final : public nw::Model {
  public:
    TrafficModel();

    void options(nw::Options& options) override;
    nw::Setup setup() override;
    void finished(const nw::RunSummary& summary) override;

    // The network of the run and its simulation objects. Requires: setup() was called.
    const Network& network() const { return network_; }
    const RoadSystem& system() const { return system_; }

  private:
    std::string network_file_;
    std::uint32_t objects_ = 1024;
    double inter_arrival_s_ = 0;
    std::uint32_t erlang_shape_ = 2;
    std::string accidents_ = "auto";
    std::string cars_ = "together";
    RoadParameters parameters_;

    Network network_;
    RoadSystem system_;
};

}  // namespace traffic
