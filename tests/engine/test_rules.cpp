// SPDX-License-Identifier: Apache-2.0
// Goal: every engine finds a broken rule, and reports this rule with the same message. With
// --check-rollback, Time Warp also finds handlers that are not repeatable, and rollbacks that do
// not restore the state.
#include <array>
#include <limits>
#include <string>

#include "tests/engine/engines.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

// --- The rules of schedule() and output() --------------------------------------------------------

enum class Breach : std::uint8_t {
    past,
    nan,
    infinite,
    unknown_lp,
    payload,
    lookahead,
    columns,
    table,
    random
};

class BreakingProcess final : public LogicalProcess {
  public:
    BreakingProcess(LpId, Breach breach) : breach_(breach) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        if (context.self() == LpId{2} && context.now() == 5) break_rule(context);
        context.schedule(context.self(), 1, 0);
    }

  private:
    void break_rule(Context& context) const {
        switch (breach_) {
            case Breach::past:
                context.schedule(LpId{1}, -2.5, 0);
                break;
            case Breach::nan:
                context.schedule(LpId{1}, std::numeric_limits<double>::quiet_NaN(), 0);
                break;
            case Breach::infinite:
                context.schedule(LpId{1}, time_infinity, 0);
                break;
            case Breach::unknown_lp:
                context.schedule(LpId{4}, 1, 0);
                break;
            case Breach::payload:
                context.schedule(LpId{1}, 1, 0, std::array<char, 9>{});
                break;
            case Breach::lookahead:
                context.schedule(LpId{1}, 0.25, 0);
                break;
            case Breach::columns:
                context.output(0, 1, 2, 3);
                break;
            case Breach::table:
                context.output(1, 1, 2);
                break;
            case Breach::random:  // the block before block 0
                context.random() = Random(1, 2, std::numeric_limits<std::uint64_t>::max());
                break;
        }
    }

    Breach breach_;
};

class BreakingModel final : public Model {
  public:
    explicit BreakingModel(Breach breach) : Model("breaking", "breaks a rule"), breach_(breach) {}
    Setup setup() override {
        Setup setup;
        setup.lps = 4;
        setup.until = 20;
        setup.lookahead = 0.5;
        setup.payload_bytes_max = 8;
        setup.process = process<BreakingProcess>(breach_);
        setup.outputs = {{"pairs", {"a", "b"}}};
        return setup;
    }

  private:
    Breach breach_;
};

TEST_CASE("a broken rule gives a ModelError with LP and event and times and allowed values") {
    const std::pair<Breach, const char*> cases[] = {
        {Breach::past,
         "LP 2 at time 5 schedules an event for LP 1 at time 2.5: this time is in the past (delay "
         "-2.5); allowed: a delay of at least 0"},
        {Breach::nan, "LP 2 at time 5 schedules an event for LP 1 at time nan: "},
        {Breach::infinite,
         "LP 2 at time 5 schedules an event for LP 1 at time inf: the time must be "
         "finite"},
        {Breach::unknown_lp,
         "LP 2 at time 5 schedules an event for LP 4 at time 6: there is no such "
         "LP; allowed: 0 to 3"},
        {Breach::payload,
         "LP 2 at time 5 schedules an event for LP 1 at time 6: its payload of 9 "
         "bytes is above the declared bound of 8; allowed: setup.payload_bytes_max = 9 in setup()"},
        {Breach::lookahead,
         "LP 2 at time 5 schedules an event for LP 1 at time 5.25: delay 0.25 is "
         "below the declared lookahead of 0.5"},
        {Breach::columns, "output() of 3 values to table pairs, which has 2 columns"},
        {Breach::table, "output() to table 1; the number of tables that the model declares is 1"},
        {Breach::random, "random(): the generator was moved by more than 2^32 blocks, or backward"},
    };
    for (const EngineKind engine : all_engines) {
        for (const auto& [breach, words] : cases) {
            INFO(name_of(engine));
            BreakingModel model(breach);
            const std::string error = model_error_of(model, wild_config(engine));
            INFO(error);
            CHECK(error.find("LP 2 at time 5, event of type 0 from LP 2: ") == 0);
            CHECK(error.find(words) != std::string::npos);
        }
    }
}

// --- Lookahead -----------------------------------------------------------------------------------

class FarProcess final : public LogicalProcess {
  public:
    explicit FarProcess(LpId) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1e9, 0); }
    void on_event(Context&, const Event&) override {}
};

class FarModel final : public Model {
  public:
    FarModel() : Model("far", "a lookahead that is lost in rounding") {}
    Setup setup() override {
        Setup setup;
        setup.lps = 2;
        setup.until = 2e9;
        setup.lookahead = 1e-9;
        setup.process = process<FarProcess>();
        return setup;
    }
};

TEST_CASE(
    "a lookahead that is lost in rounding ends a conservative run with a message instead of a "
    "hang") {
    FarModel model;
    const std::string error = model_error_of(model, wild_config(EngineKind::conservative));
    INFO(error);
    CHECK(error.find("lost in rounding") != std::string::npos);
}

TEST_CASE("with --engine auto, Time Warp executes a run whose lookahead is lost in rounding") {
    FarModel model;
    const std::string expected = run_model(model, wild_config(EngineKind::sequential)).digest.hex();
    Config config = wild_config(EngineKind::automatic);
    const RunResult result = run_model(model, config);
    CHECK(result.digest.hex() == expected);
    CHECK(result.engine_reason == "the lookahead is lost in rounding near the end time");
    config.workers = 1;  // one worker executes without windows
    CHECK(run_model(model, config).engine == EngineKind::conservative);
}

// The time is one step below now + lookahead, but time - now is rounded up to the lookahead.
constexpr VirtualTime early_lookahead = 1.5, early_now = 3 * 0x1p-53, early_time = 1.5 + 0x1p-52;
static_assert(early_time < early_now + early_lookahead &&
              early_time - early_now == early_lookahead);

class EarlyProcess final : public LogicalProcess {
  public:
    explicit EarlyProcess(LpId) {}
    void on_start(Context& context) override {
        context.schedule(context.self(), context.self() == LpId{0} ? early_now : 1, 0);
    }
    void on_event(Context& context, const Event&) override {
        if (context.now() == early_now) context.schedule_bytes_at(LpId{1}, early_time, 0, {});
    }
};

class EarlyModel final : public Model {
  public:
    EarlyModel() : Model("early", "an event that is one rounding step too early") {}
    Setup setup() override {
        Setup setup;
        setup.lps = 2;
        setup.until = 20;
        setup.lookahead = early_lookahead;
        setup.process = process<EarlyProcess>();
        return setup;
    }
};

TEST_CASE("a time below now + lookahead is refused even if time - now equals the lookahead") {
    for (const EngineKind engine : all_engines) {
        INFO(name_of(engine));
        EarlyModel model;
        const std::string error = model_error_of(model, wild_config(engine));
        INFO(error);
        CHECK(error.find("is below the declared lookahead of 1.5") != std::string::npos);
    }
}

// --- Mistakes about rollback ---------------------------------------------------------------------

// State outside of LPs. No model may have such state, because the engine does not roll it back.
std::uint64_t handler_calls = 0;
VirtualTime latest = 0;

enum class Secret : std::uint8_t { draws, sends, throws, crashes };

// An LP whose handlers depend on the number of handler calls in the whole run.
class SecretiveProcess final : public LogicalProcess {
  public:
    SecretiveProcess(LpId, Secret secret) : secret_(secret) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        ++handler_calls;
        if (secret_ == Secret::draws)
            for (std::uint64_t i = 0; i < handler_calls % 5; ++i) context.random().bits();
        if (secret_ == Secret::sends && handler_calls % 5 < 2)
            context.schedule(context.self(), 0.25, 1);
        // True if the event is executed again. An event that is executed for the first time is
        // hardly ever at or before the latest time.
        const bool again = context.now() <= latest;
        latest = std::max(latest, context.now());
        if (secret_ == Secret::throws && again) throw std::runtime_error("once is enough");
        if (secret_ == Secret::crashes && again) follow_null_pointer();
        if (context.now() == static_cast<int>(context.now()))
            context.schedule(context.self(), 1, 0);
    }

  private:
    [[gnu::noinline, gnu::no_sanitize("undefined")]] static void follow_null_pointer() {
        volatile int* volatile nowhere = nullptr;
        *nowhere = 1;
    }

    Secret secret_;
};

class SecretiveModel final : public Model {
  public:
    explicit SecretiveModel(Secret secret)
        : Model("secretive", "not repeatable"), secret_(secret) {}
    Setup setup() override {
        Setup setup;
        setup.lps = 1;
        setup.until = 30;
        setup.process = process<SecretiveProcess>(secret_);
        return setup;
    }

  private:
    Secret secret_;
};

TEST_CASE("a handler that is not repeatable is found when events are executed again") {
    for (const Secret secret : {Secret::draws, Secret::sends, Secret::throws, Secret::crashes}) {
        handler_calls = 0;
        latest = 0;
        SecretiveModel model(secret);
        Config config = wild_config(EngineKind::timewarp);
        config.workers = 1;
        config.state_saving_interval = 7;
        config.check_rollback = 0.5;
        // With this seed the first events are not rolled back, so that later rollbacks have to
        // coast forward over events.
        config.seed = 3;
        const std::string error = model_error_of(model, config);
        INFO(error);
        CHECK(error.find("LP 0 at time ") == 0);
        CHECK(error.find("executed again from the same state: ") != std::string::npos);
    }
}

struct Counts {
    std::uint64_t events = 0;
    std::uint64_t last = 0;
};

enum class Mistake : std::uint8_t { none, forgets, outside_state, throws };

class MistakenProcess final : public PlainStateProcess<Counts> {
  public:
    MistakenProcess(LpId, Mistake mistake) : mistake_(mistake) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        context.control() = state.last;
        state.last = context.random().bits();
        ++state.events;
        if (mistake_ == Mistake::outside_state) ++outside_;
        context.schedule(context.self(), 1, 0);
    }
    void on_reverse(Context& context, const Event&) override {
        if (mistake_ == Mistake::throws) throw std::runtime_error("no way back");
        --state.events;
        if (mistake_ != Mistake::forgets) state.last = context.control();
    }

  private:
    Mistake mistake_;
    std::uint64_t outside_ = 0;
};

class MistakenModel final : public Model {
  public:
    explicit MistakenModel(Mistake mistake)
        : Model("mistaken", "cannot go back"), mistake_(mistake) {}
    Setup setup() override {
        Setup setup;
        setup.lps = 2;
        setup.until = 100;
        setup.process = process<MistakenProcess>(mistake_);
        return setup;
    }

  private:
    Mistake mistake_;
};

Config checking_config(Rollback rollback) {
    Config config = wild_config(EngineKind::timewarp);
    config.rollback = rollback;
    config.check_rollback = 0.5;
    return config;
}

TEST_CASE("--check-rollback finds a wrong on_reverse and state outside of the struct") {
    for (const auto& [mistake, rollback] : {std::pair{Mistake::forgets, Rollback::reverse},
                                            std::pair{Mistake::outside_state, Rollback::copy}}) {
        MistakenModel model(mistake);
        const std::string error = model_error_of(model, checking_config(rollback));
        INFO(error);
        CHECK(error.find("LP ") == 0);
        CHECK(error.find("--check-rollback: the state after the rollback differs") !=
              std::string::npos);
        // The message contains the offset of the byte and its old value.
        const std::size_t at = error.find(": byte ");
        REQUIRE(at != std::string::npos);
        const std::size_t offset = std::stoul(error.substr(at + 7));
        CHECK(offset >= sizeof(void*));
        CHECK(offset < sizeof(MistakenProcess));
        CHECK(error.find(" of the LP's object (" + std::to_string(sizeof(MistakenProcess)) +
                         " bytes) was 0x") != std::string::npos);
    }
}

TEST_CASE("--check-rollback reports no error for a correct model") {
    for (const Rollback rollback : {Rollback::snapshot, Rollback::copy, Rollback::reverse}) {
        MistakenModel model(Mistake::none);
        CHECK(model_error_of(model, checking_config(rollback)) == "no error");
    }
}

TEST_CASE("an exception of on_reverse() is reported as a ModelError that names the LP") {
    MistakenModel model(Mistake::throws);
    const std::string error = model_error_of(model, checking_config(Rollback::reverse));
    INFO(error);
    CHECK(error.find("LP ") == 0);
    CHECK(error.find("on_reverse(): no way back") != std::string::npos);
}

}  // namespace
}  // namespace nw::test
