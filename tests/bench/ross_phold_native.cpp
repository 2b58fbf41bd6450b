// SPDX-License-Identifier: Apache-2.0
// The model of ross_phold.c for our own interface: the same draws from the same generator, a
// message of the same size, the same reverse handler. The difference of the costs of both models is
// the cost of the interface for ROSS's models (ross_overhead.py).
#include <cstdint>

#include <numawarp/model.hpp>

#include <ross.h>

namespace {

struct Parameters {
    double remote = 0.1;
    std::uint32_t lps = 1024;
    std::uint32_t events_per_lp = 16;
    bool commits = false;
};

constexpr double mean = 0.9;
constexpr double least = 0.1;

struct State {
    tw_rng_stream random;
    std::int64_t count;
};

class Process final : public nw::PlainStateProcess<State> {
  public:
    Process(nw::LpId id, const Parameters* parameters) : parameters_(parameters) {
        tw_rand_initial_seed(&state.random, nw::index(id), nullptr);
    }

    void on_start(nw::Context& context) override {
        for (std::uint32_t i = 0; i < parameters_->events_per_lp; ++i)
            send(context, context.self(), i);
    }

    void on_event(nw::Context& context, const nw::Event&) override {
        nw::LpId to = context.self();
        ++state.count;
        if (tw_rand_unif(&state.random) <= parameters_->remote) {
            context.control() = 1;
            to = nw::LpId(static_cast<std::uint32_t>(
                tw_rand_integer(&state.random, 0, std::int64_t{parameters_->lps} - 1)));
        }
        send(context, to, state.count);
    }

    void on_reverse(nw::Context& context, const nw::Event&) override {
        tw_rand_reverse_unif(&state.random);
        if (context.control() != 0) tw_rand_reverse_unif(&state.random);
        tw_rand_reverse_unif(&state.random);
        --state.count;
    }

    void on_commit(const nw::Event&) override {}

  private:
    void send(nw::Context& context, nw::LpId to, std::int64_t number) {
        context.schedule(to, least + tw_rand_exponential(&state.random, mean), 0, number);
    }

    const Parameters* parameters_;
};

class Model final : public nw::Model {
  public:
    Model() : nw::Model("ross_phold_native", "PHOLD with ROSS's random numbers") {}

    void options(nw::Options& options) override {
        options.add("lps", parameters_.lps, "logical processes", nw::from(1));
        options.add("events-per-lp", parameters_.events_per_lp, "events that each LP starts with");
        options.add("remote", parameters_.remote,
                    "probability that an event goes to an LP chosen at random from all",
                    nw::from(0).to(1));
        options.add_flag("commits", parameters_.commits, "with a commit handler that does nothing");
    }

    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = parameters_.lps;
        setup.payload_bytes_max = sizeof(std::int64_t);
        setup.process = nw::process<Process>(static_cast<const Parameters*>(&parameters_));
        setup.process.has_commit = parameters_.commits;
        setup.preferred_rollback = nw::Rollback::reverse;
        return setup;
    }

  private:
    Parameters parameters_;
};

}  // namespace

int main(int argc, char** argv) { return nw::run<Model>(argc, argv); }
