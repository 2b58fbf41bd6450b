// SPDX-License-Identifier: Apache-2.0
// Goal: a handler that was executed in a state that the sequential run never has leaves no trace.
// This is also true if a rollback executes the handler again, or if the handler damaged the headers
// of heap blocks.
//
// Method: the models are correct if events are executed in order. Out of order, they read freed
// memory, or write past a block. The run is stepped (stepped_run.hpp). A failure prints the seed of
// the schedule.
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

enum Kind : EventType { tick, late, make, use, noise, drop, dummy };

// LP 1 runs ahead and LP 2 sends to LP 0 late, so that LP 0 executes events out of order.
class Scene : public LogicalProcess {
  public:
    explicit Scene(LpId id) : id_(index(id)) {}
    void on_start(Context& context) override {
        if (id_ == 0)
            start(context);
        else if (id_ == 1)
            context.schedule(context.self(), 0.2, tick);
        else
            context.schedule(context.self(), 0.9, late);
    }
    void on_event(Context& context, const Event& event) override {
        switch (event.type()) {
            case tick:
                context.schedule(LpId{0}, 1.2, dummy);
                return context.schedule(context.self(), 1, tick);
            case late:
                context.schedule(LpId{0}, 0.1, make);
                return context.schedule(context.self(), 1, late);
            default:
                act(context, event.type());
        }
    }

  private:
    virtual void start(Context& context) = 0;
    virtual void act(Context& context, EventType type) = 0;

    std::uint32_t id_;
};

// In each unit of time, `make` is at 0, `use` at 0.3, `noise` at 0.35 and 0.45, and `drop` at 0.6.
// Without `make`, `use` reads a freed block to which `noise` has written.
class Reader final : public Scene {
  public:
    using Scene::Scene;

  private:
    void start(Context& context) override {
        context.schedule(context.self(), 1.3, use);
        context.schedule(context.self(), 1.35, noise);
        context.schedule(context.self(), 1.45, noise);
        context.schedule(context.self(), 1.6, drop);
    }
    void act(Context& context, EventType type) override {
        switch (type) {
            case make:
                thing_ = static_cast<volatile double*>(std::malloc(sizeof(double)));
                *thing_ = 7;
                has_thing_ = true;
                break;
            case use: {
                const auto sends = thing_ == nullptr ? 0 : static_cast<std::uint64_t>(*thing_) % 3;
                sum_ += sends;
                for (std::uint64_t i = 0; i < sends; ++i)
                    context.schedule(context.self(), 0.01, dummy);
                break;
            }
            case noise: {
                auto* const block = static_cast<volatile double*>(std::malloc(sizeof(double)));
                *block = context.now() * 1000003;
                std::free(const_cast<double*>(block));
                break;
            }
            case drop:
                if (has_thing_) std::free(const_cast<double*>(thing_));
                has_thing_ = false;
                break;
            default:
                return;
        }
        if (type != make) context.schedule(context.self(), 1, type);
    }

    volatile double* thing_ = nullptr;
    bool has_thing_ = false;
    std::uint64_t sum_ = 0;
};

// `make` sets a number of bytes that fits into a block of 24 bytes. `drop` sets a number that does
// not fit. `use` writes this number of bytes into the block. Other blocks follow the block.
template <std::size_t too_many>
class Writer final : public Scene {
  public:
    explicit Writer(LpId id) : Scene(id), block_(static_cast<char*>(std::malloc(24))) {
        for (std::size_t i = 0; i < blocks; ++i) {
            others_[i] = static_cast<char*>(std::malloc(24));
            std::memset(others_[i], static_cast<int>(i), 24);
        }
    }

  private:
    static constexpr std::size_t blocks = 6;

    void start(Context& context) override {
        context.schedule(context.self(), 1.3, use);
        context.schedule(context.self(), 1.45, noise);
        context.schedule(context.self(), 1.6, drop);
    }
    void act(Context& context, EventType type) override {
        switch (type) {
            case make:
                bytes_ = 24;
                return;
            case use:
                std::memset(block_, static_cast<int>(context.now()), bytes_);
                break;
            case noise: {
                for (std::size_t i = 0; i < blocks; ++i)
                    sum_ = sum_ * 31 + static_cast<unsigned char>(others_[i][7]);
                std::free(others_[0]);
                others_[0] = static_cast<char*>(std::malloc(24));
                others_[0][7] = static_cast<char>(sum_);
                break;
            }
            case drop:
                bytes_ = too_many;
                break;
            default:
                return;
        }
        context.schedule(context.self(), 1, type);
    }

    char* block_;
    char* others_[blocks];
    std::size_t bytes_ = 24;
    std::uint64_t sum_ = 0;
};

template <class Process>
Setup setup_of() {
    Setup setup;
    setup.lps = 3;
    setup.until = 300;
    setup.process = process<Process>();
    return setup;
}

void compare_orders(const Setup& setup, std::uint32_t interval) {
    Config config;
    config.engine = EngineKind::timewarp;
    config.lps_per_group = 1;
    config.gvt_interval_ms = 0;
    config.state_saving_interval = interval;
    config.rebind_seconds = 0;
    const std::string digest_alone = [&] {
        SteppedRun run(setup, config, {.ranks = 1, .workers = 1}, 1);
        run.run();
        return run.digest();
    }();
    config.window_mode = WindowMode::off;
    Counters counters;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        INFO("seed " << seed);
        SteppedRun run(setup, config, {.ranks = 1, .workers = 3}, seed);
        run.run();
        REQUIRE(run.digest() == digest_alone);
        counters.add(run.counters());
    }
    CHECK(counters[Counter::rollbacks] > 0);
    CHECK(counters[Counter::coasted_events] > 0);
}

TEST_CASE(
    "a failure while coasting forward causes a longer rollback instead of the end of the run") {
    compare_orders(setup_of<Reader>(), 7);
}

TEST_CASE("a write past a block is rolled back with its event and the block headers are repaired") {
    compare_orders(setup_of<Writer<40>>(), 2);
    compare_orders(setup_of<Writer<48>>(), 2);
    compare_orders(setup_of<Writer<56>>(), 2);
    compare_orders(setup_of<Writer<64>>(), 2);
    compare_orders(setup_of<Writer<200>>(), 2);
    compare_orders(setup_of<Writer<400>>(), 2);
}

}  // namespace
}  // namespace nw::test
