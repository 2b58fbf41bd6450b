// SPDX-License-Identifier: Apache-2.0
// A model with one option of each kind, and with a setup that tests may change.
#pragma once

#include <cstdint>
#include <string>

#include <numawarp/model.hpp>

namespace nw::test {

class ToyProcess final : public LogicalProcess {
  public:
    explicit ToyProcess(LpId) {}
    void on_event(Context&, const Event&) override {}
};

class ToyModel final : public Model {
  public:
    ToyModel() : Model("toy", "a model for tests") {
        spoiled.lps = 4;
        spoiled.until = 10;
        spoiled.process = process<ToyProcess>();
    }

    void options(Options& options) override {
        options.add("mean", mean, "a number");
        options.add("cars", cars, "a count");
        options.add("distance", distance, "a large count");
        options.add("network", network, "a text");
        options.add_flag("accidents", accidents, "a flag");
        options.add_choice("day", day, {"monday", "sunday"}, "a choice");
        options.add("share", share, "a number with bounds", from(0).to(1));
        options.add("speed", speed, "a number with open bounds", above(0).below(300));
        options.add("trucks", trucks, "a count with a bound", from(1));
        options.add_choice("lanes", lanes, {1, 2, 3}, "a choice of numbers");
    }

    Setup setup() override { return spoiled; }

    double mean = 1.5;
    std::uint32_t cars = 3;
    std::uint64_t distance = 7;
    std::string network = "italy";
    bool accidents = false;
    std::string day = "monday";
    double share = 0.5;
    double speed = 110;
    std::uint32_t trucks = 2;
    std::uint32_t lanes = 2;
    Setup spoiled;
};

}  // namespace nw::test
