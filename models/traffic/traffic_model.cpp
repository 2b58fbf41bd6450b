// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/traffic_model.hpp"

#include "models/traffic/committed_rows.hpp"
#include "models/traffic/map_picture.hpp"

namespace traffic {
namespace {

constexpr double until_default_s = 7200;

std::vector<nw::Link> links_of(const RoadPlan& plan) {
    std::vector<nw::Link> links;
    for (std::uint32_t i = 0; i < plan.size(); ++i) {
        for (const nw::LpId neighbor : plan[i].neighbors) {
            if (i < nw::index(neighbor)) links.push_back({nw::LpId{i}, neighbor});
        }
    }
    return links;
}

}  // namespace

TrafficModel::TrafficModel()
    : nw::Model("traffic", "motorways, simulated car by car; times in seconds") {}

void TrafficModel::options(nw::Options& options) {
    RoadParameters& p = parameters_;
    options.add(
        "network", network_file_,
        "TOML file of junctions and routes (default: the motorways of the Italian mainland)");
    options.add("objects", objects_,
                "junctions and segments into which the network is divided; 137: the uncut network "
                "of Italy");
    options.add("inter-arrival", inter_arrival_s_,
                "mean time between entering cars, s, at every junction; 0: from the network file",
                nw::from(0));
    options.add("erlang-shape", erlang_shape_,
                "shape of the Erlang distribution of the inter-arrival times",
                nw::from(1).to(1000));
    options.add("speed-mean", p.speed_mean, "mean speed on an empty road, km/h", nw::above(0));
    options.add("speed-deviation", p.speed_deviation, "standard deviation of the speed, km/h",
                nw::from(0));
    options.add("slowdown-deviation", p.slowdown_deviation,
                "standard deviation of a slowdown by traffic, as a share of its mean", nw::from(0));
    options.add("jam-density", p.jam_density, "cars that fit on a km of one lane", nw::above(0));
    options.add("stop-probability", p.stop_probability,
                "probability that a car stops (fuel, rest) within 100 km", nw::from(0).below(1));
    options.add("stop-mean", p.stop_mean, "mean duration of a stop, s", nw::above(0));
    options.add("stop-deviation", p.stop_deviation,
                "standard deviation of the duration of a stop, s", nw::from(0));
    options.add_choice(
        "accidents", accidents_, {"auto", "on", "off"},
        "accidents; auto: off on the uncut network (the balanced scenario), on otherwise");
    options.add("accident-variance", p.accident_variance,
                "variance of cars/capacity at accidents; the mean is 1/2", nw::above(0));
    options.add("accident-mean", p.accident_mean, "mean duration of an accident, s", nw::above(0));
    options.add("accident-deviation", p.accident_deviation,
                "standard deviation of the duration of an accident, s", nw::from(0));
    options.add("handover", p.handover,
                "time of a car to cross the boundary of two objects, s; the model's lookahead",
                nw::from(0));
    options.add_choice("cars", cars_, {"together", "separate"},
                       "memory of the cars of a road; together: several cars in a block; separate: "
                       "a block for each car");
}

nw::Setup TrafficModel::setup() {
    const RoadParameters& p = parameters_;
    // free_speed() rejects speeds below a quarter of the mean. With a larger deviation it would
    // reject more than 23 % of them, and the mean of the others would exceed --speed-mean by more
    // than 39 %.
    nw::require(p.speed_deviation <= p.speed_mean, "speed-deviation", p.speed_deviation,
                "must be at most --speed-mean");
    network_ = network_file_.empty() ? italian_network() : read_network(network_file_);
    if (inter_arrival_s_ > 0) {
        for (Junction& junction : network_.junctions) junction.inter_arrival_s = inter_arrival_s_;
    }
    system_.plan = cut(network_, objects_);
    system_.parameters = parameters_;
    system_.parameters.erlang_shape = erlang_shape_;
    system_.parameters.accidents =
        accidents_ == "on" || (accidents_ == "auto" && objects_ > objects_min(network_));

    nw::Setup setup;
    setup.lps = objects_;
    setup.until = until_default_s;
    setup.lookahead = parameters_.handover;
    setup.payload_bytes_max = sizeof(std::uint64_t);
    const RoadSystem* const system = &system_;
    setup.process = cars_ == "separate" ? nw::process<Road<CarsSeparate>>(system)
                                        : nw::process<Road<CarsTogether>>(system);
    setup.preferred_rollback = nw::Rollback::snapshot;
    setup.outputs = {road_table()};
    setup.links = links_of(system_.plan);
    return setup;
}

void TrafficModel::finished(const nw::RunSummary& summary) {
    if (summary.output_directory.empty()) return;
    const std::string folder = summary.output_directory + '/';
    const std::vector<RoadRow> rows = last_rows(folder + road_table().name + ".csv");
    write_map(folder + "network.svg", network_, system_.plan, rows);
}

}  // namespace traffic
