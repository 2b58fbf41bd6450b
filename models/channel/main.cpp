// SPDX-License-Identifier: Apache-2.0
// Hosts that send each other messages over channels with a latency. A host processes its received
// messages one after the other.
#include <numawarp/process.hpp>

struct Parameters {
    std::uint32_t hosts = 100;
    double latency = 10, gap = 5, work_mean = 3;
};
struct Message {
    nw::VirtualTime sent;
};

struct Host final : nw::ProcessLp {
    const Parameters* p;
    nw::Tally in_channel, until_done;

    Host(nw::LpId, const Parameters* parameters) : p(parameters) {}
    void start() override { env.start(sender(), receiver()); }
    nw::Process sender() {
        for (;;) {
            co_await env.delay(env.random().uniform(0, 2 * p->gap));
            env.send(env.random().lp(), p->latency, Message{env.now()});
        }
    }
    nw::Process receiver() {
        for (;;) {
            const auto message = co_await env.receive<Message>();
            in_channel.record(env.now(), env.now() - message.sent);
            co_await env.delay(env.random().exponential(p->work_mean));
            until_done.record(env.now(), env.now() - message.sent);
        }
    }
    void finish() override {
        env.output(0, nw::index(env.self()), until_done.count(), in_channel.mean(),
                   until_done.mean());
    }
};

struct Channel final : nw::Model {
    Parameters p;
    Channel() : nw::Model("channel", "hosts that exchange messages with a latency") {}
    void options(nw::Options& options) override {
        options.add("hosts", p.hosts, "hosts, one LP each", nw::from(1));
        options.add("latency", p.latency, "time that a message spends in its channel",
                    nw::above(0));
        options.add("gap", p.gap, "mean time between two messages of a host", nw::above(0));
        options.add("work-mean", p.work_mean, "mean processing time of a message", nw::above(0));
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = p.hosts, setup.until = 2000, setup.lookahead = p.latency;
        setup.payload_bytes_max = sizeof(Message);
        setup.process = nw::process<Host>(&p);
        setup.outputs = {{"hosts", {"host", "messages", "in_channel", "until_done"}}};
        setup.measures = {nw::measure("in_channel", &Host::in_channel),
                          nw::measure("until_done", &Host::until_done)};
        return setup;
    }
};

int main(int argc, char** argv) { return nw::run<Channel>(argc, argv); }
