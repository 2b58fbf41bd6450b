// The traffic model as the engine sees it: its options, its set-up, and what is made of its output.
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

    // After setup(): what the run is made of.
    const Network& network() const { return network_; }
    const RoadSystem& system() const { return system_; }

  private:
    std::string network_file_;
    std::uint32_t objects_ = 1024;
    double inter_arrival_s_ = 0;
    std::uint32_t erlang_shape_ = 2;
    std::string accidents_ = "auto";
    RoadParameters parameters_;

    Network network_;
    RoadSystem system_;
};

}  // namespace traffic
