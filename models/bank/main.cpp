// SPDX-License-Identifier: Apache-2.0
// Banks whose customers leave the queue when they lose patience. With --move, a share of these
// customers walks to a bank drawn at random.
#include <numawarp/process.hpp>

struct Parameters {
    std::uint32_t banks = 100, counters = 1;
    double arrival_mean = 10, service_mean = 12, move = 0;
};
constexpr double least_patience = 1, most_patience = 3, walk = 5;  // walk: to a bank
struct Customer {
    std::uint32_t banks_seen;
};

struct Bank final : nw::ProcessLp {
    const Parameters* p;
    nw::Resource counters{env, p->counters};
    nw::Tally wait;
    nw::Count served, reneged;
    nw::TimeAverage inside;

    Bank(nw::LpId, const Parameters* parameters) : p(parameters) {}
    void start() override { env.start(arrivals(), door()); }
    nw::Process arrivals() {
        for (;;) {
            co_await env.delay(env.random().exponential(p->arrival_mean));
            env.start(visit({1}));
        }
    }
    nw::Process door() {
        for (;;) env.start(visit(co_await env.receive<Customer>()));
    }
    nw::Process visit(Customer customer) {
        const double came = env.now();
        const double patience = env.random().uniform(least_patience, most_patience);
        auto turn = counters.request();
        inside.add(came, 1);
        const bool is_served = co_await turn.within(patience);
        wait.record(env.now(), env.now() - came);
        if (!is_served) {
            reneged.add(env.now());
            inside.add(env.now(), -1);
            if (env.random().chance(p->move))
                env.send(env.random().lp(), walk, Customer{customer.banks_seen + 1});
            co_return;
        }
        served.add(env.now());
        co_await env.delay(env.random().exponential(p->service_mean));
        inside.add(env.now(), -1);
    }
    void finish() override {
        env.output(0, nw::index(env.self()), served.count(), reneged.count(), wait.mean());
    }
};

struct Banks final : nw::Model {
    Parameters p;
    Banks() : nw::Model("bank", "banks whose customers leave the queue when they lose patience") {}
    void options(nw::Options& options) override {
        options.add("banks", p.banks, "banks, one LP each", nw::from(1));
        options.add("counters", p.counters, "counters of a bank", nw::from(1));
        options.add("arrival-mean", p.arrival_mean, "mean time between customers", nw::above(0));
        options.add("service-mean", p.service_mean, "mean time at the counter", nw::above(0));
        options.add("move", p.move, "share of lost customers who switch banks", nw::from(0).to(1));
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = p.banks, setup.until = 5000, setup.lookahead = walk;
        setup.payload_bytes_max = sizeof(Customer);
        setup.process = nw::process<Bank>(&p);
        setup.outputs = {{"banks", {"bank", "served", "reneged", "wait"}}};
        setup.measures = {nw::measure("wait", &Bank::wait), nw::measure("inside", &Bank::inside),
                          nw::measure("served", &Bank::served),
                          nw::measure("reneged", &Bank::reneged)};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<Banks>(argc, argv); }
