// SPDX-License-Identifier: Apache-2.0
// Kinds of LPs and typed events. Goal: a model of several kinds, which send each other structs, has
// the same digest on every engine and with every rollback method. The rollback methods of the kinds
// can differ. The counts of each kind and event type are the same on every engine. Error messages
// contain names.
//
// Method: sources send parcels to relays. Relays allocate nothing and pass the parcels to sinks.
// Sinks keep everything that they receive. The state of each LP affects what it sends.
#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include <numawarp/model.hpp>
#include <numawarp/process.hpp>

#include "api/lp_kinds.hpp"
#include "results/measures/measure_sums.hpp"
#include "tests/engine/engines.hpp"
#include "tests/support/catch.hpp"

namespace nw::test {
namespace {

struct Tick {
    static constexpr EventType type = 0;
};
struct Parcel {
    static constexpr EventType type = 40;
    std::uint32_t weight;
    std::uint8_t mark;  // followed by padding
};
struct Receipt {
    static constexpr EventType type = 7;
    static constexpr const char* name = "proof of delivery";
    std::uint64_t sum;
};

constexpr VirtualTime lookahead = 0.1;  // minimum delay of events for other LPs

struct Counts {
    std::uint64_t parcels = 0;  // committed
};

// A plain state. All handlers that change it can be undone.
struct SourceState {
    std::uint64_t receipts, sum;
};
class Source final : public PlainStateProcess<SourceState, Handles<Source, Tick, Receipt>> {
  public:
    explicit Source(LpId) {}
    void on_start(Context& context) override {
        relays_ = context.kinds().range("relay");
        send(context, context.self(), 0.5, Tick{});
    }
    void on(Context& context, const Tick&) {
        const auto weight = static_cast<std::uint32_t>(state.sum % 1000);
        send(context, relays_[static_cast<std::uint32_t>(context.random().below(relays_.size()))],
             lookahead + context.random().exponential(1.0), Parcel{weight, 3});
        send(context, context.self(), context.random().exponential(0.5), Tick{});
    }
    void undo(Context&, const Tick&) {}
    void on(Context&, const Receipt& receipt) {
        ++state.receipts;
        state.sum += receipt.sum;
    }
    void undo(Context&, const Receipt& receipt) {
        --state.receipts;
        state.sum -= receipt.sum;
    }

  private:
    LpRange relays_;
};

struct RelayState {
    std::uint64_t passed;
};
class Relay final : public PlainStateProcess<RelayState, Handles<Relay, Parcel>> {
  public:
    Relay(LpId, Counts* counts) : counts_(counts) {}
    void on(Context& context, const Parcel& parcel, const Event& event) {
        const LpRange sinks = context.kinds().range("sink");
        ++state.passed;
        const auto sink = static_cast<std::uint32_t>((parcel.weight + state.passed) % sinks.size());
        send(context, sinks[sink], lookahead + context.random().exponential(0.3),
             Parcel{parcel.weight + index(event.sender()), parcel.mark});
    }
    void undo(Context&, const Parcel&) { --state.passed; }
    void commit(const Parcel&) {
        if (counts_ != nullptr)
            std::atomic_ref(counts_->parcels).fetch_add(1, std::memory_order_relaxed);
    }

  private:
    Counts* counts_;
};

class Sink final : public Handles<Sink, Parcel> {
  public:
    explicit Sink(LpId) {}
    void on(Context& context, const Parcel& parcel) {
        ++seen_[parcel.weight];
        const LpRange sources = context.kinds().range("source");
        send(context, sources[parcel.weight % sources.size()],
             lookahead + context.random().exponential(1.0),
             Receipt{seen_.size() * 31 + parcel.mark});
    }

    Tally waits;  // nothing is recorded in this figure

  private:
    std::map<std::uint32_t, int> seen_;
};

// Not a kind of the model.
struct Stranger final : Handles<Stranger, Parcel> {
    explicit Stranger(LpId) {}
    void on(Context&, const Parcel&) {}
    Tally waits;
};

class PostModel final : public Model {
  public:
    explicit PostModel(Rollback relays = Rollback::copy, Rollback sources = Rollback::reverse)
        : Model("post", "three kinds"), relays_(relays), sources_(sources) {}
    Setup setup() override {
        return {.lps = kinds({{"source", 6, process<Source>(), sources_},
                              {"relay", 5, process<Relay>(&counts), relays_},
                              {"sink", 7, process<Sink>()}}),
                .until = 200,
                .lookahead = lookahead,
                .process = {}};
    }
    Counts counts;

  private:
    Rollback relays_, sources_;
};

const EventReport& row(const RunResult& result, const std::string& kind, const std::string& event) {
    const auto found = std::find_if(
        result.event_types.begin(), result.event_types.end(),
        [&](const EventReport& one) { return one.kind == kind && one.event == event; });
    REQUIRE(found != result.event_types.end());
    return *found;
}

}  // namespace

TEST_CASE("kinds: every engine and every rollback method of a kind give the same digest") {
    PostModel model;
    const RunResult expected = run_model(model, wild_config(EngineKind::sequential));
    REQUIRE(expected.totals[Counter::committed_events] > 1000);
    REQUIRE(model.counts.parcels == row(expected, "relay", "Parcel").figures.committed);

    for (const Rollback sources : {Rollback::reverse, Rollback::copy, Rollback::snapshot}) {
        for (const Rollback relays : {Rollback::copy, Rollback::reverse, Rollback::snapshot}) {
            PostModel tried(relays, sources);
            Config config = wild_config(EngineKind::timewarp);
            // Sinks are restored by snapshots. Forced rollbacks exercise all three kinds.
            config.check_rollback = 0.3;
            const RunResult result = run_model(tried, config);
            CHECK(result.digest.hex() == expected.digest.hex());
            REQUIRE(result.totals[Counter::rollbacks] > 100);
            CHECK(tried.counts.parcels == model.counts.parcels);
            std::uint64_t committed = 0, rolled_back = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                REQUIRE(result.kinds[k].rolled_back > 0);
                CHECK(result.kinds[k].committed == expected.kinds[k].committed);
                CHECK(result.kinds[k].state_bytes > 0);
                committed += result.kinds[k].committed;
                rolled_back += result.kinds[k].rolled_back;
            }
            CHECK(committed == result.totals[Counter::committed_events]);
            CHECK(rolled_back == result.totals[Counter::rolled_back_events]);
            CHECK(result.kinds[0].rollback == sources);
            CHECK(result.kinds[1].rollback == relays);
            CHECK(result.kinds[2].rollback == Rollback::snapshot);
        }
    }
}

TEST_CASE("kinds: conservative runs and the sequential run have equal counts and commits") {
    PostModel model;
    const RunResult expected = run_model(model, wild_config(EngineKind::sequential));
    for (const std::uint32_t workers : {1, 2, 3}) {
        PostModel tried;
        Config config = wild_config(EngineKind::conservative);
        config.workers = workers;
        const RunResult result = run_model(tried, config);
        CHECK(result.digest.hex() == expected.digest.hex());
        CHECK(tried.counts.parcels == model.counts.parcels);
        for (std::size_t k = 0; k < 3; ++k)
            CHECK(result.kinds[k].committed == expected.kinds[k].committed);
        for (std::size_t e = 0; e < expected.event_types.size(); ++e)
            CHECK(result.event_types[e].figures.committed ==
                  expected.event_types[e].figures.committed);
    }
}

TEST_CASE("kinds: the workers of each engine own all LPs together") {
    PostModel model;
    for (const EngineKind engine : all_engines) {
        std::uint64_t lps = 0;
        for (const WorkerReport& worker : run_model(model, wild_config(engine)).workers)
            lps += worker.lps;
        INFO(name_of(engine));
        CHECK(lps == 6 + 5 + 7);
    }
}

TEST_CASE("kinds: a measure that no LP has causes a notice; a measure without records does not") {
    class Measured final : public Model {
      public:
        Measured() : Model("measured post", "and measures") {}
        Setup setup() override {
            Setup setup = post_.setup();
            setup.measures = {measure("sinks", &Sink::waits),
                              measure("nobody's", &Stranger::waits)};
            add_measure_tables(setup.outputs, false);
            return setup;
        }

      private:
        PostModel post_;
    } model;
    for (const EngineKind engine : all_engines) {
        const RunResult result = run_model(model, wild_config(engine));
        INFO(name_of(engine));
        REQUIRE(result.notices.size() == 1);
        CHECK(
            result.notices[0] ==
            "measure nobody's: no LP has this figure; allowed: a figure of a class of the model's "
            "LPs");
    }
}

TEST_CASE("kinds: events are counted by type and some events are timed") {
    PostModel model;
    for (const EngineKind engine : all_engines) {
        const RunResult result = run_model(model, wild_config(engine));
        REQUIRE(result.event_types.size() == 4);
        CHECK(row(result, "source", "proof of delivery").type == Receipt::type);
        std::uint64_t committed = 0, timed = 0;
        for (const EventReport& one : result.event_types) {
            CHECK(one.figures.committed > 0);
            committed += one.figures.committed;
            timed += one.figures.timed;
        }
        CHECK(committed == result.totals[Counter::committed_events]);
        CHECK(timed > result.totals[Counter::executed_events] / 100);
    }
}

namespace {

// Breaks one rule, which `how` selects: it sends an event that the receiver does not handle, asks
// for an LP or a kind that does not exist, or schedules into the past.
class Wrong final : public Handles<Wrong, Parcel> {
  public:
    Wrong(LpId self, int how) : how_(how), self_(self) {}
    void on_start(Context& context) override {
        if (context.kinds().kind_of(self_).lps.index_of(self_) == 1)
            send(context, context.self(), 1, Parcel{1, 1});
    }
    void on(Context& context, const Parcel&) {
        if (how_ == 0) send(context, context.kinds().id("right", 0), 1, Receipt{1});
        if (how_ == 1) context.kinds().id("right", 5);
        if (how_ == 2) context.kinds().id("left", 0);
        if (how_ == 3) context.schedule(context.kinds().id("right", 0), -1, 0);
        if (how_ == 4) context.schedule(context.kinds().id("right", 1), 1, Parcel::type);
    }

  private:
    int how_;
    LpId self_;
};

class WrongModel final : public Model {
  public:
    explicit WrongModel(int how) : Model("wrong", "breaks rules"), how_(how) {}
    Setup setup() override {
        return {.lps = kinds({{"right", 3, process<Relay>(static_cast<Counts*>(nullptr))},
                              {"wrong", 2, process<Wrong>(how_)},
                              {"sink", 1, process<Sink>()}}),
                .until = 10,
                .lookahead = lookahead,
                .process = {}};
    }

  private:
    int how_;
};

}  // namespace

TEST_CASE("kinds: errors name the LP and its kind and the event") {
    const std::string words[] = {
        "right 0 at time 2, event of type 7 from wrong 1: the LP handles no event of type 7 with 8 "
        "bytes; allowed: Parcel (type 40, 8 bytes)",
        "wrong 1 at time 1, event Parcel from wrong 1: there is no LP 5 of this kind; allowed: 0 "
        "to "
        "2",
        "wrong 1 at time 1, event Parcel from wrong 1: there is no kind of LPs named left; "
        "allowed: right, wrong, sink",
        "wrong 1 at time 1, event Parcel from wrong 1: wrong 1 at time 1 schedules an event for "
        "right 0 at time 0: this time is in the past (delay -1); allowed: a delay of at least 0",
        "right 1 at time 2, event Parcel from wrong 1: the LP handles no event of type 40 with 0 "
        "bytes; allowed: Parcel (type 40, 8 bytes)"};
    for (int how = 0; how < 5; ++how) {
        WrongModel model(how);
        for (const EngineKind engine : all_engines)
            CHECK(model_error_of(model, wild_config(engine)) == words[how]);
    }
}

namespace {

struct Order {
    std::uint32_t pieces;
};

// A process that exchanges structs with handlers. Both use the same structs and type numbers.
class Clerk final : public ProcessLp {
  public:
    using EventTypes = EventList<Order, WakeUp>;
    explicit Clerk(LpId) {}
    void start() override { env.start(work()); }
    Process work() {
        for (;;) {
            const Order order = co_await env.receive<Order>();
            pieces.push_back(order.pieces);
            co_await env.delay(env.random().exponential(0.5));
            env.send(static_cast<LpId>(4 + env.random().below(4)), 0.2,
                     Order{static_cast<std::uint32_t>(pieces.size())});
        }
    }
    std::vector<std::uint32_t> pieces;
};
class Buyer final : public Handles<Buyer, Order> {
  public:
    explicit Buyer(LpId) {}
    void on_start(Context& context) override { buy(context); }
    void on(Context& context, const Order& order) {
        got_.push_back(order.pieces);
        buy(context);
    }

  private:
    void buy(Context& context) {
        const LpRange clerks = context.kinds().range("clerk");
        send(context, clerks[static_cast<std::uint32_t>(context.random().below(clerks.size()))],
             lookahead + context.random().exponential(1.0),
             Order{static_cast<std::uint32_t>(got_.size())});
    }
    std::vector<std::uint32_t> got_;
};
class ShopModel final : public Model {
  public:
    ShopModel() : Model("shop", "processes and handlers") {}
    Setup setup() override {
        return {.lps = kinds({{"clerk", 4, process<Clerk>()}, {"buyer", 4, process<Buyer>()}}),
                .until = 300,
                .lookahead = lookahead,
                .process = {}};
    }
};

}  // namespace

TEST_CASE("kinds: processes and handlers exchange the same structs") {
    ShopModel model;
    const RunResult expected = run_model(model, wild_config(EngineKind::sequential));
    REQUIRE(row(expected, "buyer", "Order").figures.committed > 100);
    REQUIRE(row(expected, "clerk", "WakeUp").figures.committed > 100);
    const RunResult result = run_model(model, wild_config(EngineKind::timewarp));
    CHECK(result.digest.hex() == expected.digest.hex());
    REQUIRE(result.totals[Counter::rollbacks] > 0);
    CHECK(run_model(model, wild_config(EngineKind::conservative)).digest.hex() ==
          expected.digest.hex());
}

TEST_CASE("kinds: invalid sets of kinds are refused") {
    const auto refusal = [](std::vector<Kind> all) -> std::string {
        try {
            const LpKinds refused{kinds(std::move(all))};
        } catch (const SetupError& error) {
            return error.what();
        }
        return "none";
    };
    CHECK(refusal({}) == "0 kinds of LPs; allowed: from 1 to 256");
    CHECK(refusal({{"", 1}}) == "kind 0 of LPs: must have a name");
    CHECK(refusal({{"a", 1}, {"a", 1}}) == "two kinds of LPs are named a; allowed: distinct names");
    CHECK(refusal({{"a", UINT32_MAX}, {"b", 1}}) ==
          "4294967296 LPs in all kinds; allowed: at most 4294967295");
    CHECK(refusal({{"clerk", 1, process<Clerk>()}, {"source", 1, process<Source>()}}) ==
          "event type 0 is Order for kind clerk and Tick for kind source; allowed: one list of "
          "events "
          "for both, or `static constexpr nw::EventType type` in the events");
}

}  // namespace nw::test
