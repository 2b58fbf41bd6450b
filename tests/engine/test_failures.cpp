// SPDX-License-Identifier: Apache-2.0
// Goal: a handler that fails only because it was executed too early costs only time. A handler that
// fails in order ends the run with a ModelError that names LP, event and time, on every engine.
//
// Method: the LPs of gap_model.hpp fail with each fault of all_faults as soon as a number is
// missing. test_stepped_failures.cpp does the same with schedules that are drawn from a seed.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/engine/engines.hpp"
#include "tests/engine/gap_model.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/temporary_folder.hpp"

namespace nw::test {
namespace {

std::string sequential_digest() {
    GapModel model({});
    return run_model(model, wild_config(EngineKind::sequential)).digest.hex();
}

TEST_CASE("failures in mis-speculated states are rolled back with real threads") {
    const std::string expected = sequential_digest();
    for (const Fault fault : all_faults) {
        INFO(name_of(fault));
        std::uint64_t failed = 0;
        // How far the threads drift apart depends on the machine. Repeat until a handler failed.
        for (int attempt = 0; attempt < 50 && failed == 0; ++attempt) {
            GapModel model({.fault = fault, .slow_half = true});
            const RunResult result = run_model(model, wild_config(EngineKind::timewarp));
            REQUIRE(result.digest.hex() == expected);
            failed += result.totals[Counter::failed_speculations];
        }
        CHECK(failed > 0);
    }
}

TEST_CASE("a failure in order gives the same message with LP and event and time on every engine") {
    for (const Fault fault : all_faults) {
        GapModel model({.fault = fault, .fault_at = 50});
        std::string expected;
        for (const EngineKind engine : all_engines) {
            INFO(name_of(engine) << ", " << name_of(fault));
            const std::string error = model_error_of(model, wild_config(engine));
            INFO(error);
            CHECK(error.find("LP 7 at time 50.5, event of type 1 from LP 1: ") == 0);
            if (expected.empty()) expected = error;
            // The message about a recursion contains an address on the stack.
            if (fault != Fault::recursion) CHECK(error == expected);
        }
    }
}

TEST_CASE("a failure in on_start ends the run with a message that names LP and time") {
    for (const EngineKind engine : all_engines) {
        for (const Fault fault : all_faults) {
            INFO(name_of(engine) << ", " << name_of(fault));
            GapModel model({.fault = fault, .hook = Hook::on_start});
            const std::string error = model_error_of(model, wild_config(engine));
            INFO(error);
            CHECK(error.find("LP 7 at time 0 in on_start(): ") == 0);
        }
    }
}

TEST_CASE("a failure in on_end ends the run with a message that names LP and time") {
    for (const EngineKind engine : all_engines) {
        for (const Fault fault : all_faults) {
            INFO(name_of(engine) << ", " << name_of(fault));
            GapModel model({.fault = fault, .hook = Hook::on_end});
            const std::string error = model_error_of(model, wild_config(engine));
            INFO(error);
            CHECK(error.find("LP 7 at time 400 in on_end(): ") == 0);
        }
    }
}

TEST_CASE(
    "a failure of can_end() in order ends the run with a message that names LP and event and "
    "time") {
    for (const EngineKind engine : {EngineKind::sequential, EngineKind::timewarp}) {
        for (const Fault fault : {Fault::exception, Fault::null_pointer}) {
            INFO(name_of(engine) << ", " << name_of(fault));
            GapModel model({.fault = fault, .hook = Hook::can_end, .fault_at = 50});
            const std::string error = model_error_of(model, wild_config(engine));
            INFO(error);
            CHECK(error.find("LP 7 at time 50.5, event of type 1 from LP 1: ") == 0);
        }
    }
}

TEST_CASE("a failure of on_commit() ends the run with a message that names LP and event and time") {
    for (const Fault fault : {Fault::exception, Fault::thrown_number, Fault::null_pointer}) {
        GapModel model({.fault = fault, .hook = Hook::on_commit, .fault_at = 50});
        const std::string expected = model_error_of(model, wild_config(EngineKind::sequential));
        REQUIRE(expected.find("LP 7 at time 50.5, event of type 1 from LP 1: on_commit(): ") == 0);
        for (const EngineKind engine : {EngineKind::conservative, EngineKind::timewarp}) {
            for (const std::uint32_t workers : {1, 2}) {
                for (const bool keeps : {false, true}) {
                    if (keeps && (engine != EngineKind::timewarp || workers == 1)) continue;
                    INFO(name_of(engine)
                         << ", " << name_of(fault) << ", " << workers << ", " << keeps);
                    Config config = wild_config(engine);
                    config.workers = workers;
                    config.keep_safe_events = keeps;
                    CHECK(model_error_of(model, config) == expected);
                }
            }
        }
    }
}

// --- Several failures ----------------------------------------------------------------------------

// Each LP fails at its own time shortly after 10, the last LP first. With `some_in_commit`, LPs
// with an odd number fail in on_commit().
class FailingProcess final : public LogicalProcess {
  public:
    static constexpr std::uint32_t lps = 16;

    FailingProcess(LpId id, bool some_in_commit)
        : due_(10 + 0.01 * (lps - index(id))), in_commit_(some_in_commit && index(id) % 2 == 1) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        if (!in_commit_ && context.now() >= due_) throw std::runtime_error("enough");
        context.schedule(context.self(), context.now() < 9.5 ? 1 : 0.005, 0);
    }
    void on_commit(const Event& event) override {
        if (in_commit_ && event.time() >= due_) throw std::runtime_error("enough");
    }

  private:
    double due_;
    bool in_commit_;
};

class FailingModel final : public Model {
  public:
    explicit FailingModel(bool some_in_commit)
        : Model("failing", "every LP fails, the last one first"), some_in_commit_(some_in_commit) {}
    Setup setup() override {
        Setup setup;
        setup.lps = FailingProcess::lps;
        setup.until = 100;
        setup.lookahead = 50;
        setup.process = process<FailingProcess>(some_in_commit_);
        setup.process.has_commit = some_in_commit_;
        return setup;
    }

  private:
    bool some_in_commit_;
};

TEST_CASE("the run reports the failure that is earliest in virtual time") {
    const bool some_in_commit = GENERATE(false, true);
    FailingModel model(some_in_commit);
    const std::string expected = model_error_of(model, wild_config(EngineKind::sequential));
    REQUIRE(expected.find("LP 15 at time 10.0") == 0);
    for (const EngineKind engine : {EngineKind::conservative, EngineKind::timewarp}) {
        for (std::uint32_t attempt = 0; attempt < effort(50); ++attempt) {
            INFO(name_of(engine));
            Config config = wild_config(engine);
            config.workers = 1 + attempt % 4;
            REQUIRE(model_error_of(model, config) == expected);
        }
    }
}

TEST_CASE("a failure at the start ends the run while other workers wait") {
    for (std::size_t attempt = 0; attempt < effort(200); ++attempt) {
        GapModel model({.fault_at = 1});
        Config config = wild_config(EngineKind::conservative);
        config.workers = 4;
        REQUIRE(model_error_of(model, config).find("LP 7 at time 1.5") == 0);
    }
}

// --- A measure that fails between two engines ----------------------------------------------------

// LP 0 has no events, so that its measure is first read when the run changes its engine, or at the
// end of the run.
class MeasuredProcess final : public LogicalProcess {
  public:
    explicit MeasuredProcess(LpId lp) : is_idle_(index(lp) == 0) {}
    void on_start(Context& context) override {
        if (!is_idle_) context.schedule(context.self(), 0.5, 0);
    }
    void on_event(Context& context, const Event&) override {
        context.schedule(context.self(), 0.5, 0);
    }
    const Count& count() const {
        if (is_idle_) throw std::runtime_error("the LP is idle");
        return count_;
    }

  private:
    const bool is_idle_;
    Count count_;
};

class MeasuredModel final : public Model {
  public:
    MeasuredModel() : Model("measured", "one measure fails") {}
    Setup setup() override {
        Setup setup;
        setup.lps = 8;
        setup.until = 1000;
        setup.lookahead = 0.5;
        setup.process = process<MeasuredProcess>();
        setup.measures = {measure(
            "count", [](const MeasuredProcess& lp) -> auto& { return lp.count(); })};
        add_measure_tables(setup.outputs, true);
        return setup;
    }
};

TEST_CASE(
    "a measure that fails while the run changes its engine ends the run with the measure's "
    "message") {
    MeasuredModel model;
    for (const std::uint32_t workers : {2, 3}) {
        Config config = wild_config(EngineKind::automatic);
        config.workers = workers;
        config.measure_interval = 1;
        config.trial = {.seconds = 0, .alternates = true};
        const std::string error = model_error_of(model, config);
        INFO(error);
        CHECK(error.find("LP 0 at time ") == 0);
        CHECK(error.find("in a measure: ") != std::string::npos);
        CHECK(error.find("the LP is idle") != std::string::npos);
    }
}

// --- Output that cannot be read ------------------------------------------------------------------

// The text of the row that LP 3 writes at time 10: its address or its length is not valid. All
// other rows are valid.
struct WildText {
    std::uintptr_t address;
    std::size_t bytes;
};

class WildProcess final : public LogicalProcess {
  public:
    WildProcess(LpId, const WildText* wild) : wild_(wild) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        const auto* wild = reinterpret_cast<const char*>(wild_->address);
        const bool now = index(context.self()) == 3 && context.now() > 9.5;
        context.output(0, now ? std::string_view(wild, wild_->bytes) : std::string_view("fine"));
        context.schedule(context.self(), 1, 0);
    }

  private:
    const WildText* wild_;
};

class WildModel final : public Model {
  public:
    explicit WildModel(WildText wild) : Model("wild", "writes an invalid text"), wild_(wild) {}
    Setup setup() override {
        Setup setup;
        setup.lps = 8;
        setup.until = 20;
        setup.lookahead = 1;
        setup.process = process<WildProcess>(static_cast<const WildText*>(&wild_));
        setup.outputs = {{"words", {"word"}}};
        return setup;
    }

  private:
    WildText wild_;
};

TEST_CASE(
    "output() of an invalid text fails with one message on every engine with and without "
    "--output") {
    static const std::string good = "a text that is there";
    const auto there = reinterpret_cast<std::uintptr_t>(good.data());
    for (const WildText wild : {WildText{16, 5}, WildText{16, 100'000}, WildText{there, 1u << 30},
                                WildText{there, SIZE_MAX}}) {
        INFO(wild.address << ", " << wild.bytes);
        std::string expected;
        for (const EngineKind engine : all_engines) {
            for (const bool written : {false, true}) {
                INFO(name_of(engine) << ", output " << (written ? "on" : "off"));
                const TemporaryFolder folder;
                WildModel model(wild);
                Config config = wild_config(engine);
                if (written) config.output_directory = folder.path();
                const std::string error = model_error_of(model, config);
                if (expected.empty()) expected = error;
                CHECK(error.find("LP 3 at time 10") == 0);
                CHECK(error == expected);
            }
        }
        if (wild.bytes > 100'000)
            CHECK(expected.find("to table words; allowed: at most 16777216") != std::string::npos);
    }
}

}  // namespace
}  // namespace nw::test
