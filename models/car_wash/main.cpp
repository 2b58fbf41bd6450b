// SPDX-License-Identifier: Apache-2.0
// Car washes with several machines each. A machine washes a car in a fixed time. With --again, a
// share of the clean cars makes a trip and then comes to a car wash drawn at random.
#include <numawarp/process.hpp>

struct Parameters {
    std::uint32_t washes = 100, machines = 2, first_cars = 4;
    double wash_time = 5, again = 0;
};
constexpr double trip = 60;                           // duration in minutes
constexpr std::uint32_t least_gap = 1, most_gap = 5;  // whole minutes between two cars
struct Car {
    std::uint32_t washed;  // number of washes so far
};

struct CarWash final : nw::ProcessLp {
    const Parameters* p;
    nw::Resource machines{env, p->machines};
    nw::Tally wait;
    nw::Count washed;

    CarWash(nw::LpId, const Parameters* parameters) : p(parameters) {}
    void start() override {
        for (std::uint32_t i = 0; i < p->first_cars; ++i) env.start(visit({0}));
        env.start(arrivals());
        env.start(gate());
    }
    nw::Process arrivals() {
        for (;;) {
            co_await env.delay(least_gap + double(env.random().below(most_gap - least_gap + 1)));
            env.start(visit({0}));
        }
    }
    // Receives the cars that come back from their trips.
    nw::Process gate() {
        for (;;) env.start(visit(co_await env.receive<Car>()));
    }
    nw::Process visit(Car car) {
        const double came = env.now();
        auto machine = machines.request();
        co_await machine;
        wait.record(env.now(), env.now() - came);
        co_await env.delay(p->wash_time);
        washed.add(env.now());
        if (env.random().chance(p->again)) env.send(env.random().lp(), trip, Car{car.washed + 1});
    }
    void finish() override { env.output(0, nw::index(env.self()), washed.count(), wait.mean()); }
};

struct CarWashes final : nw::Model {
    Parameters p;
    CarWashes() : nw::Model("car_wash", "car washes with some machines and a queue") {}
    void options(nw::Options& options) override {
        options.add("washes", p.washes, "car washes, one LP each", nw::from(1));
        options.add("machines", p.machines, "machines of a car wash", nw::from(1));
        options.add("first-cars", p.first_cars, "cars that are present at the beginning");
        options.add("wash-time", p.wash_time, "time that a machine needs for a car", nw::above(0));
        options.add("again", p.again, "share of cars that return", nw::from(0).to(1));
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = p.washes, setup.until = 2000, setup.lookahead = trip;
        setup.payload_bytes_max = sizeof(Car);
        setup.process = nw::process<CarWash>(&p);
        setup.outputs = {{"washes", {"wash", "washed", "wait"}}};
        setup.measures = {nw::measure("wait", &CarWash::wait),
                          nw::measure("washed", &CarWash::washed)};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<CarWashes>(argc, argv); }
