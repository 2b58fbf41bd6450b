// SPDX-License-Identifier: Apache-2.0
// Goal: events that LPs send to other ranks in on_start do not accumulate until all LPs have
// started.
//
// Method: in on_start, every LP of two ranks sends 8 events to an LP of the other rank. The bytes
// that the network received are checked before the first turn.
#include <array>

#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

class EagerProcess final : public LogicalProcess {
  public:
    static constexpr std::uint32_t lps = 2048;
    static constexpr std::uint64_t events = 8;  // sent by each LP
    using Payload = std::array<char, 256>;

    explicit EagerProcess(LpId self) : self_(index(self)) {}
    void on_start(Context& context) override {
        for (std::uint64_t i = 0; i < events; ++i)
            context.schedule(LpId{(self_ + lps / 2) % lps}, 1, 0, Payload{});
    }
    void on_event(Context&, const Event&) override {}

  private:
    std::uint32_t self_;
};

class EagerModel final : public Model {
  public:
    EagerModel() : Model("eager", "sends at the start") {}
    Setup setup() override {
        Setup setup;
        setup.lps = EagerProcess::lps;
        setup.until = 10;
        setup.payload_bytes_max = sizeof(EagerProcess::Payload);
        setup.process = process<EagerProcess>();
        return setup;
    }
};

TEST_CASE("mail to other ranks is sent while LPs start") {
    EagerModel model;
    const Setup setup = model.setup();
    Config config;
    config.lps_per_group = 16;
    config.state_saving_interval = 1;
    config.gvt_interval_ms = 1e9;
    config.gvt_interval_events = 0;
    SteppedRun::Machine machine;
    machine.ranks = 2;
    machine.workers = 2;
    SteppedRun run(setup, config, machine, 1);
    run.run_until([] { return true; });
    REQUIRE(run.steps() == 0);
    constexpr std::uint64_t all =
        EagerProcess::lps * EagerProcess::events * sizeof(EagerProcess::Payload);
    for (const std::uint64_t bytes : run.bytes_sent()) CHECK(bytes > all / machine.ranks * 3 / 4);
    run.run();
    CHECK(run.counters()[Counter::committed_events] == EagerProcess::lps * EagerProcess::events);
    CHECK(run.balance() == 0);
}

TEST_CASE("a rank with a slow set-up receives all mail that other ranks send meanwhile") {
    EagerModel model;
    const Setup setup = model.setup();
    Config config;
    config.lps_per_group = 16;
    config.state_saving_interval = 1;
    config.gvt_interval_ms = 1e9;
    config.gvt_interval_events = 0;
    std::string digests[2];
    for (const bool slow : {false, true}) {
        SteppedRun::Machine machine;
        machine.ranks = 3;
        SteppedRun run(setup, config, machine, 1);
        if (slow) CHECK(run.set_up_with_slow_rank(1));
        run.run();
        CHECK(run.balance() == 0);
        CHECK(run.counters()[Counter::committed_events] ==
              EagerProcess::lps * EagerProcess::events);
        digests[slow] = run.digest();
    }
    CHECK(digests[0] == digests[1]);
}

}  // namespace
}  // namespace nw::test
