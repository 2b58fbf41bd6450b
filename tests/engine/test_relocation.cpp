// SPDX-License-Identifier: Apache-2.0
// Goal: a worker that gets an order for another core moves to this core. It requests its pages on
// the node of this core, or fetches them.
//
// Method: the test gives orders as placement does, between turns of a run on a fake machine.
#include "numa/place/placement_policy.hpp"
#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

constexpr NodeId n0{0}, n3{3}, n5{5};

class Clock final : public LogicalProcess {
  public:
    explicit Clock(LpId) {}
    void on_start(Context& context) override { context.schedule(context.self(), 1, 0); }
    void on_event(Context& context, const Event&) override {
        context.schedule(context.self(), 1, 0);
    }
};

class Clocks final : public Model {
  public:
    Clocks() : Model("clocks", "LPs that count the time") {}
    Setup setup() override { return {.lps = 16, .until = 1e9, .process = process<Clock>()}; }
};

// A run of one worker. The first page of each of its segments is on node 0.
struct OrderedRun {
    Clocks model;
    Setup setup = model.setup();
    SteppedRun run;
    CpuAssignments& assignments = run.rank(0).assignments();

    explicit OrderedRun(const PlacementChoice& place = local_placement)
        : run(setup, config(place), {.workers = 1}, 1) {
        run.set_up();
        for (const Group* group : groups())
            for (const Segment& segment : group->memory.segments().entries())
                run.os().touch(segment.base, n0);
    }
    static Config config(const PlacementChoice& place) {
        Config config;
        config.place = &place;
        config.lps_per_group = 4;
        config.state_saving_interval = 1;
        config.gvt_interval_ms = 1e9;
        config.window_mode = WindowMode::fixed;
        config.window = 1;
        return config;
    }
    const std::vector<Group*>& groups() { return run.workers()[0]->core().groups; }
    void turn() { run.turn(0, std::chrono::nanoseconds(0)); }
    // The number of groups whose pages are to move to the node.
    std::size_t asked_for(NodeId node) {
        std::size_t count = 0;
        for (const Group* group : groups())
            count += group->memory.home().needs_move() && group->memory.home().node() == node;
        return count;
    }
};

TEST_CASE("a worker moves to the CPU of its order and requests its pages there") {
    OrderedRun ordered;
    ordered.assignments.order(0, 3, n3);
    ordered.turn();
    CHECK(ordered.assignments.cpu_of(0) == -1);  // the order is not yet published
    ordered.assignments.publish();
    ordered.turn();
    CHECK(ordered.assignments.cpu_of(0) == 3);
    CHECK(ordered.assignments.node_of(0) == n3);
    CHECK(ordered.asked_for(n3) == ordered.groups().size());
    CHECK(ordered.assignments.pages_fetched() == 0);
}

TEST_CASE(
    "if the kernel refuses to bind a worker, the worker stays in place until an order succeeds") {
    OrderedRun ordered;
    ordered.run.os().fail_next(FakeOs::Call::bind_thread, EPERM);
    ordered.assignments.order(0, 3, n3);
    ordered.assignments.publish();
    ordered.turn();
    CHECK(ordered.assignments.cpu_of(0) == -1);
    CHECK(ordered.assignments.refusal() == EPERM);
    CHECK(ordered.asked_for(n3) == 0);
    ordered.assignments.order(0, 5, n5);
    ordered.assignments.publish();
    ordered.turn();
    CHECK(ordered.assignments.node_of(0) == n5);
    CHECK(ordered.assignments.refusal() == 0);
}

TEST_CASE("--place strict: a worker that moves takes its memory only from the new node") {
    OrderedRun ordered(strict_placement);
    ordered.assignments.order(0, 3, n3);
    ordered.assignments.publish();
    ordered.turn();
    CHECK(ordered.run.os().count(FakeOs::Call::require_memory_of) == 1);
    CHECK(ordered.run.os().records().back().argument == index(n3));
    CHECK(ordered.run.os().count(FakeOs::Call::prefer_local_memory) == 0);
    CHECK(ordered.assignments.memory_refusal() == 0);
    // If the kernel refuses the policy, the worker takes memory of any node.
    ordered.run.os().fail_next(FakeOs::Call::require_memory_of, EINVAL);
    ordered.assignments.order(0, 5, n5);
    ordered.assignments.publish();
    ordered.turn();
    CHECK(ordered.assignments.refusal() == 0);
    CHECK(ordered.assignments.node_of(0) == n5);
    CHECK(ordered.run.os().count(FakeOs::Call::prefer_local_memory) == 1);
    CHECK(ordered.assignments.memory_refusal() == EINVAL);
}

TEST_CASE("a worker that gets an order to fetch its pages does so once and reports the time") {
    OrderedRun ordered;
    ordered.assignments.order(0, 3, n3);
    ordered.assignments.fetch();
    ordered.turn();
    const std::uint64_t pages = ordered.assignments.pages_fetched();
    const std::uint64_t ns = ordered.assignments.fetch_ns();
    CHECK(pages >= ordered.groups().size());
    CHECK(ns > 0);
    CHECK(ordered.asked_for(n3) == 0);
    ordered.assignments.publish();
    ordered.turn();
    CHECK(ordered.assignments.pages_fetched() == pages);
    CHECK(ordered.assignments.fetch_ns() == ns);
}

}  // namespace
}  // namespace nw::test
