// SPDX-License-Identifier: Apache-2.0
// Tests how an LP's state is restored: from both kinds of saved states, and from the undo bytes of
// small states. The expected values are in a list that contains the state before each event.
//
// Method: one LP in a group. An "event" adds to a number. For snapshots, it also changes a string
// on the LP's heap. The positions pass the wrap, which comes after 32 events.
#include "lp/state_keeping.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "memory/handler/heap_scope.hpp"
#include "memory/heap/group_memory.hpp"
#include "memory/heap/lp_heap.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "tests/support/random_cases.hpp"
#include "util/check.hpp"

namespace nw::test {
namespace {

struct SmallState {
    std::uint64_t sum = 0;
};
struct MiddleState {
    std::uint64_t sum = 0;
    std::uint64_t filling[20] = {};
};
struct LargeState {
    std::uint64_t sum = 0;
    std::uint64_t filling[40] = {};
};

template <class State>
struct Plain final : PlainStateProcess<State> {
    explicit Plain(LpId) {}
    void on_event(Context&, const Event&) override {}
    void add(std::uint64_t n) { this->state.sum += n; }
    std::uint64_t sum() const { return this->state.sum; }
};

struct Rich final : LogicalProcess {
    explicit Rich(LpId) {}
    void on_event(Context&, const Event&) override {}
    void add(std::uint64_t n) {
        total += n;
        text.assign(n % 50, static_cast<char>('a' + n % 26));
    }
    std::uint64_t sum() const { return total * 1000 + text.size(); }
    std::uint64_t total = 0;
    std::string text;
};

struct Wide final : LogicalProcess {
    explicit Wide(LpId) { std::fill(std::begin(table), std::end(table), 1); }
    void on_event(Context&, const Event&) override {}
    void add(std::uint64_t n) { table[++next % std::size(table)] += n; }
    std::uint64_t sum() const {
        return std::accumulate(std::begin(table), std::end(table), std::uint64_t{0});
    }
    std::uint64_t next = 0;
    std::uint64_t table[30'000];
};

// An LP with everything that an engine keeps for it, except the events.
template <class Process>
class KeptLp {
  public:
    KeptLp(Rollback method, std::uint32_t state_saving_interval, bool uses_log = true)
        : rules_(method_of(method).rules(process<Process>(), state_saving_interval)),
          keeper({rules_}, uses_log) {
        const HeapScope scope(lp.heap);
        lp.process = new Process(LpId{0});
    }
    ~KeptLp() {
        {
            const HeapScope scope(lp.heap);
            delete &model();
        }
        keeper.forget(lp, heap());
        lp.history.release(stride(), heap());
    }

    Process& model() { return *static_cast<Process*>(lp.process); }
    PlatformHeap& heap() { return group_.platform(); }
    std::uint32_t stride() const { return rules_.entry_stride; }

    void execute(std::uint64_t n) {
        HistoryEntry& entry = lp.history.append(stride(), heap());
        entry = {};
        entry.random_used = static_cast<std::uint32_t>(n);
        keeper.save(lp, entry, heap());
        run(n);
    }

    // Works like Rollbacks::restore_state(), including coasting forward. Returns the number of
    // events that were executed again.
    std::uint32_t roll_back(History::Ordinal position) {
        std::uint32_t coasted = 0;
        if (keeper.saves_states(lp)) {
            History::Ordinal p = keeper.restore_saved_state(lp, position, heap());
            coasted = position - p;
            for (; p != position; ++p) run(lp.history.at(p, stride()).random_used);
        } else {
            keeper.restore_copy(lp, lp.history.at(position, stride()));
        }
        while (lp.history.tail() != position) lp.history.drop_last();
        return coasted;
    }

    void commit_to(History::Ordinal position) {
        lp.committed = position;
        const History::Ordinal needed = keeper.trim(lp, position, heap());
        while (lp.history.head() != needed) lp.history.drop_first();
    }

    void run(std::uint64_t n) {
        const HeapScope scope(lp.heap);
        model().add(n);
    }

  private:
    StateKeepingRules rules_;
    MemorySource source_{linux_os(), MemoryMode::numa, 4};
    GroupMemory group_{source_, GroupId{1}};

  public:
    LpRecord lp{group_, 0, 0};
    StateKeeper keeper;
};

// Executes random steps. `sums[i]` is the state of the LP before the i-th event.
template <class Process>
void play(Rollback method, std::uint32_t state_saving_interval) {
    std::uint64_t rollbacks = 0, coasted = 0, wraps = 0, forgotten = 0;
    for (const std::uint64_t seed : test_seeds(10)) {
        INFO("NUMAWARP_TEST_SEED=" << seed);
        Dice dice(seed);
        KeptLp<Process> kept(method, state_saving_interval);
        std::vector<std::uint64_t> sums;
        const auto number = [&](History::Ordinal p) { return std::size_t{p - History::first}; };
        for (int step = 0; step < 2000; ++step) {
            LpRecord& lp = kept.lp;
            const std::uint32_t uncommitted = lp.history.tail() - lp.committed;
            if (uncommitted == 0 || dice.chance(0.7)) {
                sums.resize(number(lp.history.tail()));
                sums.push_back(kept.model().sum());
                kept.execute(1 + dice.below(1000));
                wraps += lp.history.tail() == 0;
            } else if (dice.chance(0.5)) {
                const auto position =
                    lp.committed + static_cast<std::uint32_t>(dice.below(uncommitted));
                coasted += kept.roll_back(position);
                ++rollbacks;
                REQUIRE(lp.history.tail() == position);
                REQUIRE(kept.model().sum() == sums[number(position)]);
            } else {
                kept.commit_to(lp.committed + 1 +
                               static_cast<std::uint32_t>(dice.below(uncommitted)));
                if (lp.committed == lp.history.tail() && dice.chance(0.3)) {
                    while (!lp.history.empty()) lp.history.drop_first();
                    kept.keeper.forget(lp, kept.heap());
                    ++forgotten;
                    REQUIRE(kept.keeper.bytes() == 0);
                }
            }
        }
    }
    REQUIRE(rollbacks > 0);
    REQUIRE(wraps > 0);
    REQUIRE(forgotten > 0);
    if (method == Rollback::snapshot && state_saving_interval > 1) REQUIRE(coasted > 0);
}

TEST_CASE("StateKeeper: a small plain state is restored from the entries of the history") {
    play<Plain<SmallState>>(Rollback::copy, 1);
    CHECK(method_of(Rollback::copy).rules(process<Plain<SmallState>>(), 0).copied_bytes > 0);
}

TEST_CASE("StateKeeper: a large plain state is restored from copies and coasting forward") {
    for (const std::uint32_t every : {0u, 1u, 2u, 7u, 100u})
        play<Plain<LargeState>>(Rollback::copy, every);
}

TEST_CASE("StateKeeper: state on the LP's heap is restored from snapshots and coasting forward") {
    for (const std::uint32_t every : {0u, 1u, 2u, 7u, 100u}) play<Rich>(Rollback::snapshot, every);
    play<Wide>(Rollback::snapshot, 7);
}

TEST_CASE("StateKeeper: a state is saved once per interval on both sides of the wrap") {
    KeptLp<Rich> kept(Rollback::snapshot, 10);
    for (int i = 0; i < 1000; ++i) {
        kept.execute(1);
        REQUIRE(kept.keeper.saved_states() == static_cast<std::uint64_t>(i / 10 + 1));
    }
}

TEST_CASE("StateKeeper: trim keeps the saved state that the oldest uncommitted event needs") {
    KeptLp<Rich> kept(Rollback::snapshot, 8);
    for (int i = 0; i < 300; ++i) kept.execute(1);
    const std::uint64_t all = kept.keeper.bytes();
    kept.commit_to(History::first + 37);  // five events beyond the wrap
    CHECK(kept.lp.history.head() == History::first + 32);
    CHECK(kept.keeper.bytes() == all / 38 * 34);  // without the states of events 0, 8, 16 and 24
    kept.roll_back(History::first + 37);
    CHECK(kept.model().total == 37);
}

// Returns the interval of an LP after `calm` events, or after a rollback and `calm` more events.
// `save_ns` and `event_ns` are the measured costs of a saved state and of an event.
std::uint32_t interval_after(float save_ns, float event_ns, int calm, bool is_rolled_back) {
    KeptLp<Plain<LargeState>> kept(Rollback::snapshot, 0);
    const auto run = [&] {
        for (int i = 0; i < calm; ++i) {
            kept.execute(1);
            kept.lp.saved_states->save_ns = save_ns;
            kept.lp.saved_states->event_ns = event_ns;
            if (i % 16 == 15) kept.commit_to(kept.lp.history.tail() - 1);
        }
    };
    run();
    if (!is_rolled_back) return kept.lp.saved_states->interval;
    kept.roll_back(kept.lp.history.tail() - 1);
    run();
    return kept.lp.saved_states->interval;
}

TEST_CASE(
    "StateKeeper: without rollbacks states are saved every 32 events, and less often if saving "
    "takes long") {
    CHECK(interval_after(100, 100, 10'000, false) == 32);
    CHECK(interval_after(800, 100, 10'000, false) == 32);
    CHECK(interval_after(5000, 100, 10'000, false) == 200);
    CHECK(interval_after(1e6f, 100, 10'000, false) == 1024);
    CHECK(interval_after(10'000, 100, 48, false) == 97);  // ⌈√(2 · 47 · 100)⌉
}

TEST_CASE("StateKeeper: after a rollback the rollback rate and the costs determine the interval") {
    CHECK(interval_after(10'000, 100, 10'000, false) == 400);
    // The interval is first adapted to one rollback in 32 events or in somewhat more. Later it is
    // adapted to no rollback in at most 48 events.
    const std::uint32_t interval = interval_after(10'000, 100, 48, true);
    CHECK(interval >= 80);
    CHECK(interval <= 160);
}

TEST_CASE("StateKeeper: a saved large state contains only changes and its bytes are counted once") {
    KeptLp<Wide> kept(Rollback::snapshot, 10);
    for (int i = 0; i < 10; ++i) kept.execute(1);
    const std::uint64_t first = kept.keeper.bytes();
    CHECK(first > sizeof(Wide::table));
    for (int i = 0; i < 90; ++i) kept.execute(1);
    CHECK(kept.keeper.saved_states() == 10);
    CHECK(kept.keeper.bytes() < first + 9 * 16'384);
    CHECK(kept.keeper.bytes_held(kept.lp) == kept.keeper.bytes());
    kept.commit_to(History::first + 95);
    CHECK(kept.keeper.bytes() >= sizeof(Wide::table));
    CHECK(kept.keeper.bytes() < first + 16'384);
    const std::uint64_t sum = kept.model().sum();
    kept.roll_back(History::first + 95);
    CHECK(kept.model().sum() == sum - 5);
    kept.commit_to(kept.lp.history.tail());
    while (!kept.lp.history.empty()) kept.lp.history.drop_first();
    kept.keeper.forget(kept.lp, kept.heap());
    CHECK(kept.keeper.bytes() == 0);
}

TEST_CASE("StateKeeper: no state of a failed LP is saved") {
    KeptLp<Rich> kept(Rollback::snapshot, 1);
    for (int i = 0; i < 3; ++i) kept.execute(1);
    kept.lp.failed = true;
    for (int i = 0; i < 3; ++i) kept.execute(1);
    CHECK(kept.keeper.saved_states() == 3);
    kept.lp.failed = false;
    kept.roll_back(History::first + 3);
    CHECK(kept.model().total == 3);
    kept.execute(1);
    CHECK(kept.keeper.saved_states() == 4);
}

TEST_CASE("StateKeeper: a new owner keeps the interval of an LP if its rules use intervals") {
    KeptLp<Rich> kept(Rollback::snapshot, 0);
    kept.execute(1);
    kept.lp.saved_states->interval = 13;
    kept.commit_to(kept.lp.history.tail());
    while (!kept.lp.history.empty()) kept.lp.history.drop_first();
    kept.keeper.drop_past(kept.lp, kept.heap());
    CHECK(kept.keeper.bytes() == 0);

    const auto keeper_with = [](Rollback method, std::uint32_t interval) {
        return StateKeeper({method_of(method).rules(process<Plain<SmallState>>(), interval)}, true);
    };
    keeper_with(Rollback::snapshot, 0).resume(kept.lp, kept.heap());
    REQUIRE(kept.lp.saved_states != nullptr);
    CHECK(kept.lp.saved_states->interval == 13);
    CHECK(kept.keeper.is_at_start(kept.lp));
    keeper_with(Rollback::snapshot, 4).resume(kept.lp, kept.heap());
    CHECK(kept.lp.saved_states->interval == 4);
    keeper_with(Rollback::copy, 0).resume(kept.lp, kept.heap());
    CHECK(kept.lp.saved_states == nullptr);
}

TEST_CASE("StateKeeper: the interval adapts to rollbacks and doubles without rollbacks") {
    const auto interval_after = [](bool rollbacks) {
        KeptLp<Wide> kept(Rollback::snapshot, 0);
        kept.execute(1);
        kept.keeper.event_cost(kept.lp, 100);
        for (int i = 0; i < 400; ++i) {
            kept.lp.saved_states->save_ns = 50;
            kept.execute(1);
            kept.execute(1);
            if (rollbacks) {
                kept.roll_back(kept.lp.history.tail() - 1);
                kept.execute(1);
            }
            kept.commit_to(kept.lp.history.tail() - 1);
        }
        return kept.lp.saved_states->interval;
    };
    CHECK(interval_after(false) == 32);
    CHECK(interval_after(true) <= 2);
}

TEST_CASE("StateKeeper: small states are saved at each event with a log or if there are many LPs") {
    const auto interval_with = [](auto kept, std::size_t lps) {
        kept.execute(1);
        for (std::size_t i = 1; i < lps; ++i) kept.keeper.take_over(kept.lp);
        for (int i = 0; i < 400; ++i) {
            kept.lp.saved_states->save_ns = 50;
            kept.lp.saved_states->event_ns = 100;
            kept.execute(1);
            kept.commit_to(kept.lp.history.tail() - 1);
        }
        return kept.lp.saved_states->interval;
    };
    using Small = KeptLp<Plain<SmallState>>;
    CHECK(interval_with(Small(Rollback::snapshot, 0), 1) == 1);
    CHECK(interval_with(Small(Rollback::snapshot, 4), 1) == 4);
    CHECK(interval_with(Small(Rollback::snapshot, 0, false), 8192) == 32);
    CHECK(interval_with(Small(Rollback::snapshot, 0, false), 8193) == 1);
    CHECK(interval_with(KeptLp<Wide>(Rollback::snapshot, 0), 8193) == 32);
}

// Executes events whose states are in a log. Then moves the states into the history, as a rollback
// does, executes another event, and rolls back to each of the states.
template <class Process>
void check_states_in_log(Rollback method) {
    KeptLp<Process> kept(method, 1);
    StateKeeper& keeper = kept.keeper;
    REQUIRE(keeper.suits_log(kept.lp));

    struct State {
        alignas(8) std::byte bytes[StateKeeper::state_in_log_max];
        std::uint16_t count;
        std::uint64_t sum;
    };
    std::vector<State> states(6);
    const History::Ordinal first = kept.lp.history.tail();
    for (std::uint32_t i = 0; i < states.size(); ++i) {
        states[i].sum = kept.model().sum();
        std::byte no_undo[128];
        states[i].count = keeper.save_in_log(kept.lp, no_undo, states[i].bytes).value();
        REQUIRE(states[i].count > 0);
        kept.run(i + 1);
    }
    for (const State& state : states) {
        kept.lp.history.append(kept.stride(), kept.heap()) = {};
        keeper.take_from_log(kept.lp, state.bytes, state.count, kept.heap());
    }
    kept.execute(1);
    CHECK(keeper.saved_states() == states.size() + 1);
    CHECK_FALSE(keeper.suits_log(kept.lp));
    for (std::uint32_t i = static_cast<std::uint32_t>(states.size()); i-- > 0;) {
        CHECK(kept.roll_back(first + i) == 0);
        CHECK(kept.model().sum() == states[i].sum);
    }
}

TEST_CASE("StateKeeper: a state in the log becomes a saved state") {
    check_states_in_log<Plain<SmallState>>(Rollback::snapshot);
    check_states_in_log<Plain<MiddleState>>(Rollback::copy);
    check_states_in_log<Rich>(Rollback::snapshot);
}

TEST_CASE("StateKeeper: an LP with undo data in its entries suits the log") {
    KeptLp<Plain<SmallState>> kept(Rollback::copy, 1);
    CHECK(kept.keeper.suits_log(kept.lp));
    kept.run(5);
    HistoryEntry& entry = kept.lp.history.append(kept.stride(), kept.heap());
    std::byte no_state[1];
    CHECK(kept.keeper.save_in_log(kept.lp, entry.undo(), no_state) == 0);
    kept.run(1);
    kept.keeper.restore_copy(kept.lp, entry);
    CHECK(kept.model().sum() == 5);
}

TEST_CASE("StateKeeper: an LP with a longer interval does not suit the log") {
    const KeptLp<Rich> kept(Rollback::snapshot, 2);
    CHECK_FALSE(kept.keeper.suits_log(kept.lp));
}

struct Growing final : LogicalProcess {
    explicit Growing(LpId) {}
    void on_event(Context&, const Event&) override {}
    void add(std::uint64_t n) { items.resize(n); }
    std::uint64_t sum() const { return items.size(); }
    std::vector<std::uint64_t> items;
};

// `has_states`: before the state grows, a state of the log is moved into the history and committed
// there. The result must be the same.
TEST_CASE("StateKeeper: a state that has become too large for the log is saved in the history") {
    const bool has_states = GENERATE(false, true);
    KeptLp<Growing> kept(Rollback::snapshot, 0);
    REQUIRE(kept.keeper.suits_log(kept.lp));
    alignas(8) std::byte state[StateKeeper::state_in_log_max];
    std::byte no_undo[128];  // room for the largest undo data, which these rules do not use
    if (has_states) {
        const std::uint16_t bytes = kept.keeper.save_in_log(kept.lp, no_undo, state).value();
        kept.lp.history.append(kept.stride(), kept.heap()) = {};
        kept.keeper.take_from_log(kept.lp, state, bytes, kept.heap());
        CHECK(kept.lp.saved_states->interval == 1);
        kept.commit_to(kept.lp.history.tail());
        while (!kept.lp.history.empty()) kept.lp.history.drop_first();
        kept.keeper.drop_past(kept.lp, kept.heap());
        REQUIRE(kept.keeper.suits_log(kept.lp));
    }
    kept.run(1000);
    CHECK_FALSE(kept.keeper.save_in_log(kept.lp, no_undo, state).has_value());
    const History::Ordinal position = kept.lp.history.tail();
    kept.execute(5);
    CHECK(kept.lp.saved_states->newest != nullptr);
    CHECK(kept.lp.saved_states->interval == SavedStates::first_interval);
    CHECK_FALSE(kept.keeper.suits_log(kept.lp));
    kept.roll_back(position);
    CHECK(kept.model().sum() == 1000);
}

struct HugeState {
    std::uint64_t sum = 0;
    std::uint64_t filling[4096] = {};
};

TEST_CASE("StateKeeper: copy saves a large plain state as a snapshot, which shares pages") {
    KeptLp<Plain<HugeState>> kept(Rollback::copy, 2);
    const std::uint64_t first_sum = kept.model().sum();
    const History::Ordinal first = kept.lp.history.tail();
    for (std::uint64_t& word : kept.model().state.filling) word = 1;
    kept.execute(1);
    const std::uint64_t of_one = kept.keeper.bytes();
    for (int i = 0; i < 9; ++i) kept.execute(1);
    CHECK(kept.lp.saved_states->newest->is_snapshot);
    CHECK(kept.keeper.bytes() < of_one + 5 * sizeof(HugeState) / 2);
    kept.roll_back(first);
    CHECK(kept.model().sum() == first_sum);
}

TEST_CASE("StateKeeper: a handover of an LP also transfers its saved bytes") {
    KeptLp<Rich> kept(Rollback::snapshot, 4);
    for (int i = 0; i < 40; ++i) kept.execute(1);
    StateKeeper other(kept.keeper.rules(), true);
    const std::uint64_t bytes = kept.keeper.bytes();
    REQUIRE(bytes > 0);
    kept.keeper.hand_over(kept.lp);
    other.take_over(kept.lp);
    CHECK(kept.keeper.bytes() == 0);
    CHECK(other.bytes() == bytes);
    CHECK(other.bytes_peak() == bytes);
    other.hand_over(kept.lp);
    kept.keeper.take_over(kept.lp);
}

}  // namespace
}  // namespace nw::test
