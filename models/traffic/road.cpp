// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/road.hpp"

#include <algorithm>
#include <cmath>

namespace traffic {
namespace {

constexpr double hour_s = 3600;

// After an accident, the waiting cars of a lane start one after the other, at this interval.
constexpr double restart_headway_s = 2;

struct Ticket {
    std::uint32_t number;
};
struct Passage {
    std::uint64_t car;
};

// Both overloads return the position of the car with this ticket. Requires: the car is in `cars`.
CarsTogether::iterator find_car(CarsTogether& cars, std::uint32_t ticket) {
    return std::lower_bound(
        cars.begin(), cars.end(), ticket,
        [](const Car& car, std::uint32_t wanted) { return car.ticket < wanted; });
}

// A binary search in a list would visit all cars. Most cars that leave are near the beginning.
CarsSeparate::iterator find_car(CarsSeparate& cars, std::uint32_t ticket) {
    return std::find_if(cars.begin(), cars.end(),
                        [ticket](const Car& car) { return car.ticket == ticket; });
}

}  // namespace

nw::OutputTable road_table() {
    return {"roads",
            {"hour", "time_s", "lp", "object", "motorway", "kind", "length_km", "lanes", "cars_in",
             "cars_out", "inside", "entered", "left", "hour_in", "hour_out", "hour_accidents",
             "blocked", "density_cars_per_km", "mean_speed_km_per_h"}};
}

template <class Cars>
Road<Cars>::Road(nw::LpId lp, const RoadSystem* system)
    : system_(system),
      road_(&system->plan[nw::index(lp)]),
      capacity_(
          std::max(1.0, road_->length_km * 2 * road_->lanes * system->parameters.jam_density)) {}

template <class Cars>
void Road<Cars>::on_start(nw::Context& context) {
    const RoadParameters& parameters = system_->parameters;
    context.schedule(context.self(), hour_s, RoadEvent::hour);
    if (road_->is_junction) {
        context.schedule(context.self(),
                         context.random().erlang(parameters.erlang_shape, road_->inter_arrival_s),
                         arrival);
    }
    km_to_next_stop_ = way_to_stop(context.random(), parameters);
}

template <class Cars>
void Road<Cars>::on_event(nw::Context& context, const nw::Event& event) {
    switch (static_cast<RoadEvent>(event.type())) {
        case arrival:
            return on_arrival(context, event);
        case leave:
            return on_leave(context, event.payload<Ticket>().number);
        case finish_accident:
            blocked_ = false;
            queued_ = 0;
            return;
        case hour:
            write_row(context);
            context.schedule(context.self(), hour_s, RoadEvent::hour);
            return;
    }
}

template <class Cars>
void Road<Cars>::on_arrival(nw::Context& context, const nw::Event& event) {
    count_until(context.now());
    ++totals_.cars_in;
    if (event.sender() == context.self()) {
        context.schedule(
            context.self(),
            context.random().erlang(system_->parameters.erlang_shape, road_->inter_arrival_s),
            arrival);
        ++totals_.entered;
        const std::uint64_t place = nw::index(context.self());
        join(context, (place << 32) | totals_.entered, context.self());
    } else {
        join(context, event.payload<Passage>().car, event.sender());
    }
    scan(context);
    if (system_->parameters.accidents && !road_->is_junction && !blocked_) maybe_accident(context);
}

template <class Cars>
void Road<Cars>::join(nw::Context& context, std::uint64_t car, nw::LpId from) {
    const RoadParameters& parameters = system_->parameters;
    const double crossing =
        crossing_time(context.random(), road_->length_km,
                      static_cast<double>(cars_.size()) / capacity_, parameters);

    // The last `handover` seconds of the crossing are the way over the boundary. The car is sent to
    // the next object when it reaches the boundary.
    const double until_boundary = std::max(0.0, crossing - parameters.handover);
    const Ticket ticket{next_ticket_++};
    cars_.push_back({.id = car,
                     .leave_at = context.now() + until_boundary,
                     .stopped_until = 0,
                     .position_km = 0,
                     .km_per_s = road_->length_km / crossing,
                     .from = from,
                     .ticket = ticket.number});
    context.schedule(context.self(), until_boundary, RoadEvent::leave, ticket);
}

// Updates the position of each car, and stops cars. Stops are a Poisson process along the km
// driven. The road has one countdown of km for all its cars, so that a scan does not draw a random
// number for each car.
template <class Cars>
void Road<Cars>::scan(nw::Context& context) {
    const RoadParameters& parameters = system_->parameters;
    const nw::VirtualTime now = context.now();
    double driven_km = 0;
    double stop_after_km = km_to_next_stop_;
    for (Car& car : cars_) {
        if (car.stopped_until > now) continue;
        double drove_since = scanned_at_;
        if (car.stopped_until > 0) {
            drove_since = std::max(scanned_at_, car.stopped_until);
            car.stopped_until = 0;
        }
        const double km =
            std::min(car.km_per_s * (now - drove_since), road_->length_km - car.position_km);
        car.position_km += km;
        driven_km += km;
        if (driven_km >= stop_after_km && car.position_km < road_->length_km) [[unlikely]] {
            const double pause =
                positive_normal(context.random(), parameters.stop_mean, parameters.stop_deviation);
            car.stopped_until = now + pause;
            car.leave_at += pause;
            stop_after_km = driven_km + way_to_stop(context.random(), parameters);
        }
    }
    km_to_next_stop_ = stop_after_km - driven_km;
    totals_.driven_km += driven_km;
    scanned_at_ = now;
}

template <class Cars>
void Road<Cars>::maybe_accident(nw::Context& context) {
    const RoadParameters& parameters = system_->parameters;
    const double probability =
        accident_probability(static_cast<double>(cars_.size()), capacity_, parameters);
    if (!context.random().chance(probability)) return;
    const double duration =
        positive_normal(context.random(), parameters.accident_mean, parameters.accident_deviation);
    ++totals_.accidents;
    blocked_ = true;
    blocked_until_ = context.now() + duration;
    context.schedule(context.self(), duration, finish_accident);
}

template <class Cars>
void Road<Cars>::on_leave(nw::Context& context, std::uint32_t ticket) {
    const nw::VirtualTime now = context.now();
    const auto car = find_car(cars_, ticket);
    if (blocked_) {
        const double headway = restart_headway_s / (2 * road_->lanes);
        car->leave_at = std::max(car->leave_at, blocked_until_ + headway * ++queued_);
    }
    // The car leaves later if a stop or an accident has postponed leave_at. A difference of at most
    // 1e-6 s comes from the rounding of now + delay.
    if (car->leave_at > now + 1e-6) {
        context.schedule(context.self(), car->leave_at - now, RoadEvent::leave, Ticket{ticket});
        return;
    }
    count_until(now);
    depart(context, *car);
    cars_.erase(car);
}

template <class Cars>
void Road<Cars>::depart(nw::Context& context, const Car& car) {
    const double handover = system_->parameters.handover;
    totals_.driven_km += road_->length_km - car.position_km;
    if (road_->is_junction && context.random().chance(road_->leave_probability)) {
        ++totals_.left;
        ++totals_.cars_out;
        return;
    }
    handovers_.push_back(context.now() + handover);
    totals_.car_seconds += handover;
    context.schedule(next_road(context, car.from), handover, arrival, Passage{car.id});
}

// Returns the next object of a car that came from `from`. A car leaves a segment at the other end.
// A car leaves a junction by a road that is drawn uniformly from all roads except the road by which
// the car came. At a dead end the car drives back.
template <class Cars>
nw::LpId Road<Cars>::next_road(nw::Context& context, nw::LpId from) const {
    const std::vector<nw::LpId>& roads = road_->neighbors;
    if (!road_->is_junction) return roads[0] == from ? roads[1] : roads[0];
    const auto came_by = std::find(roads.begin(), roads.end(), from);
    if (came_by == roads.end()) return roads[context.random().below(roads.size())];
    if (roads.size() == 1) return roads[0];
    const std::uint64_t drawn = context.random().below(roads.size() - 1);
    const auto skipped = static_cast<std::uint64_t>(came_by - roads.begin());
    return roads[drawn < skipped ? drawn : drawn + 1];
}

// Adds the time that cars spent here until `now`, and counts the cars that crossed the boundary
// before `now`.
template <class Cars>
void Road<Cars>::count_until(nw::VirtualTime now) {
    totals_.car_seconds += static_cast<double>(cars_.size()) * (now - counted_at_);
    counted_at_ = now;
    const auto on_boundary = std::lower_bound(handovers_.begin(), handovers_.end(), now);
    totals_.cars_out += static_cast<std::uint64_t>(on_boundary - handovers_.begin());
    handovers_.erase(handovers_.begin(), on_boundary);
}

template <class Cars>
void Road<Cars>::on_end(nw::Context& context) {
    if (context.now() > last_row_at_) write_row(context);
}

template <class Cars>
void Road<Cars>::write_row(nw::Context& context) {
    const nw::VirtualTime now = context.now();
    scan(context);
    count_until(now);
    const double driven_km = totals_.driven_km - at_last_row_.driven_km;
    const double car_seconds = totals_.car_seconds - at_last_row_.car_seconds;
    const double density = car_seconds / (now - last_row_at_) / road_->length_km;
    const double speed = car_seconds > 0 ? driven_km / car_seconds * 3600 : 0;
    // The cell is empty, and not 0, if there was no car.
    const nw::OutputValue speed_cell =
        car_seconds > 0 ? nw::OutputValue(speed) : nw::OutputValue("");
    const auto number = static_cast<std::uint64_t>(std::ceil(now / hour_s));
    context.output(0, number, now, nw::index(context.self()), std::string_view(road_->name),
                   std::string_view(road_->motorway), road_->is_junction ? "junction" : "segment",
                   road_->length_km, road_->lanes, totals_.cars_in, totals_.cars_out,
                   cars_.size() + handovers_.size(), totals_.entered, totals_.left,
                   totals_.cars_in - at_last_row_.cars_in, totals_.cars_out - at_last_row_.cars_out,
                   totals_.accidents - at_last_row_.accidents, blocked_ ? 1 : 0, density,
                   speed_cell);
    at_last_row_ = totals_;
    last_row_at_ = now;
}

template class Road<CarsTogether>;
template class Road<CarsSeparate>;

}  // namespace traffic
