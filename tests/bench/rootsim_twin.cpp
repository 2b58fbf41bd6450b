// SPDX-License-Identifier: Apache-2.0
// The model of rootsim_phold.c, written for numawarp: the same draws from the same generator, the
// same state, the same digest.
#include <bit>
#include <cmath>
#include <cstdint>

#include <numawarp/model.hpp>

#include "compat/rootsim/stream.hpp"

namespace {

struct Parameters {
    std::uint32_t lps = 1024;
    std::uint32_t events_per_lp = 1;
    double remote = 0.1;
};

class Process final : public nw::LogicalProcess {
  public:
    Process(nw::LpId self, const Parameters* parameters)
        : parameters_(*parameters), generator_(nw::rootsim::stream_of(index(self), 1)) {}

    void on_start(nw::Context& context) override {
        for (std::uint32_t i = 0; i < parameters_.events_per_lp; ++i) send(context, context.self());
    }

    void on_event(nw::Context& context, const nw::Event& event) override {
        ++events_;
        checksum_ += std::bit_cast<std::uint64_t>(event.time());
        const bool leaves = uniform() < parameters_.remote;
        send(context, leaves ? nw::LpId{static_cast<std::uint32_t>(uniform() * parameters_.lps)}
                             : context.self());
    }

  private:
    double uniform() noexcept { return nw::rootsim::next_uniform(generator_); }

    void send(nw::Context& context, nw::LpId to) {
        context.schedule(to, 0.1 + 0.9 * -std::log(1 - uniform()), 1);
    }

    const Parameters& parameters_;
    nw::rootsim::Generator generator_;
    std::uint64_t events_ = 0;
    std::uint64_t checksum_ = 0;
};

class Twin final : public nw::Model {
  public:
    Twin() : Model("rootsim_twin", "rootsim_phold, written for numawarp") {}

    void options(nw::Options& options) override {
        options.add("lps", parameters_.lps, "LPs", nw::from(1));
        options.add("events-per-lp", parameters_.events_per_lp, "events that each starts with");
        options.add("remote", parameters_.remote, "share of the events that leave", nw::from(0));
    }
    nw::Setup setup() override {
        nw::Setup setup;
        setup.lps = parameters_.lps;
        setup.process = nw::process<Process>(&parameters_);
        return setup;
    }

  private:
    Parameters parameters_;
};

}  // namespace

int main(int argc, char** argv) { return nw::run<Twin>(argc, argv); }
