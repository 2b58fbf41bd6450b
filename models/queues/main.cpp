// SPDX-License-Identifier: Apache-2.0
// Stations with one server and one queue each. A served job moves to a station drawn uniformly
// (Jackson: "Jobshop-like queueing systems", 1963). By default the network is closed: --jobs jobs
// circulate until the end. With --arrival-rate the network is open: jobs arrive from outside, and
// the outside is one of the destinations that are drawn with equal probability.
#include <deque>

#include <numawarp/model.hpp>

struct Parameters {
    std::uint32_t stations = 16, jobs = 64;
    double arrival_rate = 0, service_mean = 1;
};
// A job enters from outside, comes from a station, or was served.
enum : nw::EventType { enters, comes, served };

struct Station final : nw::LogicalProcess {
    const Parameters* p;
    std::deque<double> jobs;  // arrival time of each job; the front job is in service
    nw::TimeAverage in_station, busy;
    nw::Tally response;
    Station(nw::LpId, const Parameters* parameters) : p(parameters) {}
    void on_start(nw::Context& c) override {
        if (p->arrival_rate > 0) return after(c, 1 / p->arrival_rate, enters);
        for (std::uint32_t job = nw::index(c.self()); job < p->jobs; job += p->stations)
            c.schedule(c.self(), 0, comes);
    }
    void on_event(nw::Context& c, const nw::Event& event) override {
        if (event.type() == enters) after(c, 1 / p->arrival_rate, enters);
        if (event.type() == served) {
            response.record(c.now(), c.now() - jobs.front());
            jobs.pop_front();
            const auto next = c.random().below(p->stations + (p->arrival_rate > 0));
            if (next < p->stations) c.schedule(static_cast<nw::LpId>(next), 0, comes);
        } else {
            jobs.push_back(c.now());
        }
        in_station.set(c.now(), static_cast<double>(jobs.size()));
        busy.set(c.now(), jobs.empty() ? 0 : 1);
        const bool begins = event.type() == served ? !jobs.empty() : jobs.size() == 1;
        if (begins) after(c, p->service_mean, served);
    }
    void on_end(nw::Context& c) override {
        c.output(0, nw::index(c.self()), response.count(), busy.mean(c.now()),
                 in_station.mean(c.now()), response.mean());
    }
    static void after(nw::Context& c, double mean, nw::EventType type) {
        c.schedule(c.self(), c.random().exponential(mean), type);
    }
};

struct Queues final : nw::Model {
    Parameters p;
    Queues() : nw::Model("queues", "a Jackson network of stations with one server each") {}
    void options(nw::Options& options) override {
        options.add("stations", p.stations, "stations, one LP each", nw::from(1));
        options.add("jobs", p.jobs, "jobs in the closed network");
        options.add("arrival-rate", p.arrival_rate, "rate of outside jobs per station; 0: closed",
                    nw::from(0));
        options.add("service-mean", p.service_mean, "mean time of a service", nw::above(0));
    }
    nw::Setup setup() override {
        nw::Setup setup{.lps = p.stations, .until = 10000, .process = nw::process<Station>(&p)};
        setup.outputs = {{"stations", {"station", "served", "busy", "jobs", "response"}}};
        setup.measures = {nw::measure("busy", &Station::busy),
                          nw::measure("jobs", &Station::in_station),
                          nw::measure("response", &Station::response)};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<Queues>(argc, argv); }
