// SPDX-License-Identifier: Apache-2.0
// One object of the network as a logical process: a junction, or a segment of a motorway with both
// carriageways. The object stores the list of the cars that are driving through it.
//
// The model follows the `traffic` application of "NUMA Time Warp" (2015), §4.
// docs/models/traffic.md lists the differences. The cars are in ordinary containers, which grow and
// shrink. The engine rolls the containers back, so the model has no code for rollback.
//
// Class Road has the container of the cars as its template parameter. --cars selects the container.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <vector>

#include <numawarp/model.hpp>

#include "models/traffic/road_physics.hpp"
#include "models/traffic/road_plan.hpp"

namespace traffic {

enum RoadEvent : nw::EventType {
    arrival,          // a car comes over a link; if this LP is the sender, a car enters here
    leave,            // a car may have reached the end at which it leaves the road
    finish_accident,  // the accident is over
    hour,             // the hourly row of output is due
};

// The data that all roads of a run share; constant after set-up.
struct RoadSystem {
    RoadPlan plan;
    RoadParameters parameters;
};

// Returns the output table. Road::write_row() writes the values in the order of the columns.
nw::OutputTable road_table();

struct Car {
    // Unique in the network. Upper 32 bits: the LP at which the car entered. Lower 32 bits: the
    // number of cars that had entered there, including this car.
    std::uint64_t id;
    double leave_at;       // time at which the car will have reached its end of the road
    double stopped_until;  // the car is stopped while this time is in the future
    double position_km;    // distance driven on this road, at time Road::scanned_at_
    double km_per_s;
    nw::LpId from;         // the object from which the car came; this LP: the car entered here
    std::uint32_t ticket;  // ascending in Road::cars_
};

using CarsTogether = std::deque<Car>;  // each block of memory contains several cars
using CarsSeparate = std::list<Car>;   // each car has a block of memory

// `Cars` is CarsTogether or CarsSeparate. Both give equal results.
template <class Cars>
class Road final : public nw::LogicalProcess {
  public:
    Road(nw::LpId lp, const RoadSystem* system);

    void on_start(nw::Context& context) override;
    void on_event(nw::Context& context, const nw::Event& event) override;
    void on_end(nw::Context& context) override;

  private:
    void on_arrival(nw::Context& context, const nw::Event& event);
    void on_leave(nw::Context& context, std::uint32_t ticket);
    void join(nw::Context& context, std::uint64_t car, nw::LpId from);
    void scan(nw::Context& context);
    void maybe_accident(nw::Context& context);
    void depart(nw::Context& context, const Car& car);
    nw::LpId next_road(nw::Context& context, nw::LpId from) const;

    void count_until(nw::VirtualTime now);
    void write_row(nw::Context& context);

    const RoadSystem* system_;
    const RoadObject* road_;
    double capacity_;  // cars that fit on both carriageways at jam density; at least 1

    Cars cars_;  // most cars leave in the order in which they came
    // Times at which the cars on the boundary will have crossed it, ascending.
    std::vector<nw::VirtualTime> handovers_;
    std::uint32_t next_ticket_ = 0;
    nw::VirtualTime scanned_at_ = 0;
    double km_to_next_stop_ = 0;  // sum of the km that the cars here drive until one of them stops

    bool blocked_ = false;
    nw::VirtualTime blocked_until_ = 0;
    std::uint32_t queued_ = 0;  // cars that wait for the end of the accident

    // Sums since the start. Invariant: cars_in = cars_out + cars inside. A car on the boundary is
    // inside the road that it leaves.
    struct Totals {
        std::uint64_t cars_in = 0;
        std::uint64_t cars_out = 0;
        std::uint64_t entered = 0;  // part of cars_in: cars that entered the network here
        std::uint64_t left = 0;     // part of cars_out: cars that left the network here
        std::uint64_t accidents = 0;
        double driven_km = 0;
        double car_seconds = 0;
    };
    Totals totals_;
    Totals at_last_row_;
    nw::VirtualTime counted_at_ = 0;
    nw::VirtualTime last_row_at_ = 0;
};

}  // namespace traffic
