// SPDX-License-Identifier: Apache-2.0
// Gas stations with one tank each, which trucks refill. With --again, a share of the cars refuels
// once more later, at a station drawn at random.
#include <numawarp/process.hpp>

struct Parameters {
    std::uint32_t stations = 100, pumps = 2;
    double tank = 200, again = 0;
};
constexpr double least_gap = 30, most_gap = 300, truck_time = 300, threshold = 0.25;
constexpr double car_tank = 50, speed = 2, drive = 1200, check = 10;  // l, l/s, s, s
struct Car {
    double fuel;
};

struct Station final : nw::ProcessLp {
    const Parameters* p;
    nw::Resource pumps{env, p->pumps};
    nw::Container tank{env, p->tank, p->tank};
    nw::Tally time;
    nw::Count trucks;

    Station(nw::LpId, const Parameters* parameters) : p(parameters) {}
    void start() override { env.start(arrivals(), road(), control()); }
    nw::Process arrivals() {
        for (;;) {
            co_await env.delay(env.random().uniform(least_gap, most_gap));
            env.start(refuel(new_car()));
        }
    }
    // Receives the cars that come to refuel once more.
    nw::Process road() {
        for (;;) env.start(refuel(co_await env.receive<Car>()));
    }
    nw::Process refuel(Car car) {
        const double came = env.now(), wanted = car_tank - car.fuel;
        auto pump = pumps.request();
        co_await pump;
        co_await tank.get(wanted);
        co_await env.delay(wanted / speed);
        time.record(env.now(), env.now() - came);
        if (env.random().chance(p->again)) {
            const Car next = new_car();  // C++ does not define the order of two draws in one call
            env.send(env.random().lp(), drive, next);
        }
    }
    Car new_car() { return {env.random().uniform(5, 25)}; }
    // Orders a truck when the tank's level is low, and waits until the truck has refilled the tank.
    nw::Process control() {
        for (;; co_await env.delay(check))
            if (tank.level() < threshold * tank.capacity()) co_await env.start(truck());
    }
    nw::Process truck() {
        co_await env.delay(truck_time);
        trucks.add(env.now());
        co_await tank.put(tank.capacity() - tank.level());
    }
    void finish() override {
        env.output(0, nw::index(env.self()), time.count(), trucks.count(), time.mean());
    }
};

struct GasStations final : nw::Model {
    Parameters p;
    GasStations() : nw::Model("gas_station", "gas stations that are refilled by trucks") {}
    void options(nw::Options& options) override {
        options.add("stations", p.stations, "stations, one LP each", nw::from(1));
        options.add("pumps", p.pumps, "pumps of a station", nw::from(1));
        options.add("tank", p.tank, "size of a station's tank, l", nw::from(car_tank));
        options.add("again", p.again, "share of cars that return", nw::from(0).to(1));
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = p.stations, setup.until = 20000, setup.lookahead = drive;
        setup.payload_bytes_max = sizeof(Car);
        setup.process = nw::process<Station>(&p);
        setup.outputs = {{"stations", {"station", "cars", "trucks", "time"}}};
        setup.measures = {nw::measure("time", &Station::time),
                          nw::measure("trucks", &Station::trucks)};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<GasStations>(argc, argv); }
