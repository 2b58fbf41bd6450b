// SPDX-License-Identifier: Apache-2.0
// Jobs that travel around a ring of stations, each with one server and a queue: the model of the
// pages about other simulators.
#include <deque>

#include <numawarp/model.hpp>

struct Parameters {
    std::uint32_t stations = 64, jobs = 128;
    double service_mean = 1;
};
constexpr double link_delay = 0.5;

struct Job {
    std::uint32_t number;
};
struct EndService {};

struct Station final : nw::Handles<Station, Job, EndService> {
    const Parameters* p;
    std::deque<Job> queue;  // its front is being served
    nw::TimeAverage busy, jobs;

    Station(nw::LpId, const Parameters* parameters) : p(parameters) {}
    void on_start(nw::Context& c) override {
        for (std::uint32_t job = nw::index(c.self()); job < p->jobs; job += c.lps())
            send(c, c.self(), 0, Job{job});
    }
    void on(nw::Context& c, const Job& job) {
        queue.push_back(job);
        jobs.add(c.now(), 1);
        if (queue.size() == 1) begin_service(c);
    }
    void on(nw::Context& c, const EndService&) {
        const auto next = static_cast<nw::LpId>((nw::index(c.self()) + 1) % c.lps());
        send(c, next, link_delay, queue.front());
        queue.pop_front();
        jobs.add(c.now(), -1);
        busy.set(c.now(), 0);
        if (!queue.empty()) begin_service(c);
    }
    void begin_service(nw::Context& c) {
        busy.set(c.now(), 1);
        send(c, c.self(), c.random().exponential(p->service_mean), EndService{});
    }
};

struct Ring final : nw::Model {
    Parameters p;
    Ring() : nw::Model("ring", "jobs that go round a ring of stations") {}
    void options(nw::Options& options) override {
        options.add("stations", p.stations, "stations, one LP each", nw::from(1));
        options.add("jobs", p.jobs, "jobs on the ring");
        options.add("service-mean", p.service_mean, "mean time of a service", nw::above(0));
    }
    nw::Setup setup() override {
        nw::Setup setup{.lps = p.stations, .until = 2000, .lookahead = link_delay};
        setup.process = nw::process<Station>(&p);
        setup.measures = {nw::measure("busy", &Station::busy), nw::measure("jobs", &Station::jobs)};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<Ring>(argc, argv); }
