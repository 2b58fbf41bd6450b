// One place of the network as a logical process: a junction, or a segment of a motorway with both
// its carriageways. It holds the list of the cars that are driving through it.
//
// After the `traffic` application of "NUMA Time Warp" (2015), §4; what differs is said in
// docs/models/traffic.md. The list grows and shrinks in ordinary containers on purpose: rolling it
// back is the engine's business.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <numawarp/model.hpp>

#include "models/traffic/road_physics.hpp"
#include "models/traffic/road_plan.hpp"

namespace traffic {

enum RoadEvent : nw::EventType {
    arrival,          // a car comes over a link, or (sent by oneself) enters the network here
    leave,            // a car may be at its end of the road
    finish_accident,  // the road is free again
    hour,             // time for the hourly row of output
};

// What all roads of a run share. Does not change after set-up.
struct RoadSystem {
    RoadPlan plan;
    RoadParameters parameters;
};

// The columns of the output table, in the order of Road::write_row.
nw::OutputTable road_table();

class Road final : public nw::LogicalProcess {
  public:
    Road(nw::LpId lp, const RoadSystem* system);

    void on_start(nw::Context& context) override;
    void on_event(nw::Context& context, const nw::Event& event) override;
    void on_end(nw::Context& context) override;

  private:
    struct Car {
        std::uint64_t id;  // over the whole network: where it entered, and the how-manieth there
        double leave_at;   // when it will be at its end of the road
        double stopped_until;  // it stands while this is later than now
        double position_km;    // driven here, at time scanned_at_
        double km_per_s;
        nw::LpId from;
        std::uint32_t ticket;  // ascending in cars_
    };

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
    double capacity_;  // cars that can stand here, both carriageways

    std::deque<Car> cars_;  // most leave in the order in which they came
    std::vector<nw::VirtualTime>
        handovers_;  // when cars on the boundary will be over it, ascending
    std::uint32_t next_ticket_ = 0;
    nw::VirtualTime scanned_at_ = 0;
    double km_to_next_stop_ = 0;  // that all cars here drive together until one stops

    bool blocked_ = false;
    nw::VirtualTime blocked_until_ = 0;
    std::uint32_t queued_ = 0;  // cars waiting for the road to be free

    // Since the start. Invariant: cars_in = cars_out + cars inside, where a car on the boundary is
    // inside the road it leaves.
    struct Totals {
        std::uint64_t cars_in = 0;
        std::uint64_t cars_out = 0;
        std::uint64_t entered = 0;  // of cars_in: entered the network here
        std::uint64_t left = 0;     // of cars_out: left the network here
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
