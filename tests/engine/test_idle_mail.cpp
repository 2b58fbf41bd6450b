// SPDX-License-Identifier: Apache-2.0
// Goal: groups that get no more mail release the pages of their mail during the run.
//
// Method: until virtual time 20, every LP sends to an LP of another worker. After that, it sends
// only to itself, until after the end of the test. The events are too large for a mail ring, so
// that they go to the bottom halves. The test advances the machine's clock.
#include <array>

#include "event/mail_ring.hpp"
#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

class TalkativeAtFirst final : public LogicalProcess {
  public:
    static constexpr std::uint32_t lps = 600;  // more groups than a worker trims per turn

    explicit TalkativeAtFirst(LpId self) : self_(index(self)) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event& event) override {
        if (event.type() != 0) return;
        context.schedule(context.self(), 1, 0);
        if (context.now() < 20) context.schedule(LpId{(self_ + lps / 2) % lps}, 1, 1, Letter{});
    }

  private:
    struct Letter {
        std::array<std::byte, MailRing::event_bytes_max> bytes{};
    };
    std::uint32_t self_;
};

class TalkativeModel final : public Model {
  public:
    TalkativeModel() : Model("talkative", "sends mail only at the beginning") {}
    Setup setup() override {
        Setup setup;
        setup.lps = TalkativeAtFirst::lps;
        setup.payload_bytes_max = MailRing::event_bytes_max;
        setup.until = 1e9;
        setup.process = process<TalkativeAtFirst>();
        return setup;
    }
};

TEST_CASE("groups without new mail return the pages of mail to the kernel") {
    TalkativeModel model;
    const Setup setup = model.setup();
    Config config;
    config.lps_per_group = 1;
    config.state_saving_interval = 1;
    config.gvt_interval_ms = 1e9;
    config.gvt_interval_events = 0;
    config.window_mode = WindowMode::fixed;
    config.window = 1;
    SteppedRun run(setup, config, {}, 1);
    std::size_t most = 0;
    run.run_until([&] {
        most = std::max(most, run.mail_bytes());
        return run.gvt() > 25;
    });
    REQUIRE(run.counters()[Counter::events_crossed] >= 19 * TalkativeAtFirst::lps);
    REQUIRE(most >= TalkativeAtFirst::lps * page_bytes);
    const std::uint64_t steps = run.steps();
    run.run_until([&] { return run.steps() % 1000 == 0 && run.mail_bytes() == 0; });
    CHECK(run.mail_bytes() == 0);
    CHECK(run.steps() - steps < 200'000);  // 4 s of the machine's clock
}

}  // namespace
}  // namespace nw::test
