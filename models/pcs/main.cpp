// SPDX-License-Identifier: Apache-2.0
#include "cell.hpp"

namespace pcs {
namespace {

class Model final : public nw::Model {
  public:
    Model()
        : nw::Model("pcs", "portables and their calls in a network of cells; times in seconds") {}

    void options(nw::Options& options) override {
        Parameters& p = parameters_;
        const nw::Range side = nw::from(1).to(65535), mean = nw::from(0.001).to(1e9);
        options.add("width", p.width, "cells in a row; the rows form a torus", side);
        options.add("height", p.height, "rows of cells", side);
        options.add("portables", p.portables, "portables in each cell at the beginning",
                    nw::from(1));
        options.add("channels", p.channels, "channels of each cell");
        options.add("call-mean", p.call_mean, "mean duration of a call, s", mean);
        options.add("next-call-mean", p.next_call_mean,
                    "mean time between two call attempts of a portable, s", mean);
        options.add("move-mean", p.move_mean, "mean time that a portable stays in a cell, s", mean);
        options.add_flag("moves", p.moves, "portables move from cell to cell");
        options.add("count-from", p.count_from, "when counts begin, s", nw::from(0));
        options.add_choice("state", state_, {"plain", "containers"},
                           "how a cell stores its calls; containers: for rollback by snapshot");
    }

    nw::Setup setup() override {
        const auto* parameters = static_cast<const Parameters*>(&parameters_);
        const bool plain = state_ == "plain";
        nw::Setup setup;
        setup.lps = parameters_.width * parameters_.height;
        setup.until = 3600;
        setup.payload_bytes_max = sizeof(Portable);
        setup.process =
            plain ? nw::process<PlainCell>(parameters) : nw::process<ListedCell>(parameters);
        setup.preferred_rollback = plain ? nw::Rollback::copy : nw::Rollback::snapshot;
        setup.outputs = {{"cells",
                          {"x", "y", "portables", "in_use", "connected", "blocked", "busy_lines",
                           "completed", "moves_in", "moves_out", "hand_offs_in", "hand_offs_out",
                           "dropped", "in_use_mean", "call_s_mean"}}};
        return setup;
    }

  private:
    Parameters parameters_;
    std::string state_ = "plain";
};

}  // namespace
}  // namespace pcs

int main(int argc, char** argv) { return nw::run<pcs::Model>(argc, argv); }
