// SPDX-License-Identifier: Apache-2.0
// Goal: Worker::validate() finds faults in a worker's lists, events, memory and mail, and accepts a
// worker without faults.
//
// Method: a run of several workers is stopped in its middle. Each case makes one fault, calls
// validate(), and removes the fault.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "engine/timewarp/worker/rollbacks.hpp"
#include "engine/timewarp/worker/sends.hpp"
#include "tests/engine/random_model.hpp"
#include "tests/engine/stepped_run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/private_member.hpp"
#include "util/check.hpp"

namespace nw::test {

NW_TEST_OPEN(SendsOf, &Worker::sends_);
NW_TEST_OPEN(StagedOf, &Sends::staged_);
NW_TEST_OPEN(RollbacksOf, &Worker::rollbacks_);
NW_TEST_OPEN(ToCancelOf, &Rollbacks::to_cancel_);
NW_TEST_OPEN(ToWorkersOf, &Outboxes::to_workers_);
NW_TEST_OPEN(CommitterOf, &Worker::committer_);
NW_TEST_OPEN(UncommittedOf, &Committer::uncommitted_);
NW_TEST_OPEN(CommittingOf, &Committer::committing_);
NW_TEST_OPEN(EndingOf, &Worker::ending_);
NW_TEST_OPEN(NotEndedOf, &Ending::lps_not_ended_);
NW_TEST_OPEN(OwnersOf, &Rank::owners_);
NW_TEST_OPEN(SeenOf, &EpochCounts::seen_);

namespace {

RandomShape busy_shape() {
    RandomShape shape;
    shape.lps = 24;
    shape.fuel = 400;
    return shape;
}

Config busy_config() {
    Config config;
    config.seed = 5;
    config.lps_per_group = 3;
    config.rollback = Rollback::snapshot;
    config.state_saving_interval = 2;
    config.gvt_interval_ms = 1e9;
    config.gvt_interval_events = 0;
    config.window_mode = WindowMode::off;
    return config;
}

// A worker in the middle of a run. The worker has uncommitted history and pending events, and the
// run has had rollbacks.
class BusyWorker {
  public:
    BusyWorker()
        : model_(busy_shape()),
          setup_(model_.setup()),
          run_(setup_, busy_config(), {.ranks = 1, .workers = 2}, 5) {
        run_.run_until([this] {
            return !uncommitted().empty() && run_.gvt() > 2 && !pending_entries().empty() &&
                   run_.counters()[Counter::rollbacks] > 0;
        });
    }

    Rank& rank() { return run_.rank(0); }
    Worker& worker() { return *run_.workers().front(); }
    template <class Name>
    auto& of(Name name) {
        return worker().*opened(name);
    }
    WorkerCore& core() { return worker().core(); }
    Sends& sends() { return *of(SendsOf{}); }
    std::vector<LpRecord*>& uncommitted() { return of(CommitterOf{}).*opened(UncommittedOf{}); }
    std::vector<LpRecord*>& committing() { return of(CommitterOf{}).*opened(CommittingOf{}); }
    LpRecord& lp() { return *uncommitted().front(); }
    Group& group() { return *core().groups.front(); }
    // Returns the record of a pending event, or null if no pending event has a record.
    EventRecord* pending_record() {
        for (const PendingEntry& entry : pending_entries())
            if (entry.has_record()) return entry.record();
        return nullptr;
    }
    std::vector<PendingEntry> pending_entries() {
        std::vector<PendingEntry> entries;
        core().pending.for_each([&](const PendingEntry& entry) { entries.push_back(entry); });
        return entries;
    }

    void require_in_order() { REQUIRE_NOTHROW(worker().validate()); }
    void require_found() { REQUIRE_THROWS_AS(worker().validate(), InternalError); }

    // Checks that validate() fails while `place` has the value `wrong`, and succeeds afterwards.
    template <class T, class U>
    void check_found(const char* what, T& place, U&& wrong) {
        INFO(what);
        T right = std::move(place);
        place = std::forward<U>(wrong);
        CHECK_THROWS_AS(worker().validate(), InternalError);
        place = std::move(right);
        CHECK_NOTHROW(worker().validate());
    }

  private:
    RandomModel model_;
    Setup setup_;
    SteppedRun run_;
};

template <class T>
std::vector<T> without_last(std::vector<T> list) {
    list.pop_back();
    return list;
}

template <class T>
std::vector<T> with_first_twice(std::vector<T> list) {
    list.push_back(list.front());
    return list;
}

}  // namespace

TEST_CASE("Worker::validate: a worker without faults in the middle of a run passes") {
    BusyWorker busy;
    busy.require_in_order();
    CHECK(busy.worker().validate() > 100);
}

TEST_CASE("Worker::validate: wrong lists are found") {
    BusyWorker busy;
    busy.check_found("an LP is on no list", busy.uncommitted(), without_last(busy.uncommitted()));
    busy.check_found("an LP is listed twice", busy.uncommitted(),
                     with_first_twice(busy.uncommitted()));
    busy.lp().has_uncommitted = false;  // although the LP is listed
    busy.require_found();
    busy.lp().has_uncommitted = true;
    busy.check_found("a group is listed twice", busy.core().groups,
                     with_first_twice(busy.core().groups));
    busy.check_found("a group is not listed", busy.core().groups, without_last(busy.core().groups));
    busy.check_found("an event to cancel is left", (*busy.of(RollbacksOf{})).*opened(ToCancelOf{}),
                     std::vector<EventRecord*>{busy.pending_record()});
    busy.check_found("the number of LPs that cannot end is wrong",
                     busy.of(EndingOf{}).*opened(NotEndedOf{}), 7u);
    std::atomic<Partition::Owner>& owner =
        (busy.rank().*opened(OwnersOf{}))[busy.group().mail.group()];
    const Partition::Owner right = owner.exchange({0, 1});
    busy.require_found();
    owner = right;
    busy.require_in_order();
}

TEST_CASE("Worker::validate: a commit that is recorded as done but is not done is found") {
    BusyWorker busy;
    busy.uncommitted().swap(busy.committing());
    busy.require_found();
}

TEST_CASE("Worker::validate: wrong counts are found") {
    BusyWorker busy;
    Counters more = busy.core().counters;
    ++more[Counter::executed_events];
    busy.check_found("more executed events are counted than exist", busy.core().counters, more);
    busy.check_found("an anti-message that does not exist is counted",
                     busy.lp().unmatched_anti_messages, busy.lp().unmatched_anti_messages + 1);
    busy.check_found("a saved state has a wrong size", busy.lp().saved_states->bytes, 1u);
    std::uint32_t& seen = busy.core().epochs.*opened(SeenOf{});
    busy.check_found("the result of a round without a cut is received", seen, seen + 2);
}

TEST_CASE("Worker::validate: wrong events are found") {
    BusyWorker busy;
    EventRecord& event = *busy.pending_record();
    busy.check_found("the event has another time", event.time, event.time + 1);
    busy.check_found("the event has another target", event.target, event.target + 1);
    busy.check_found("the event is already executed", event.status, EventStatus::processed);
    busy.check_found(
        "the history has an event of another LP",
        busy.lp().history.at(busy.lp().history.tail() - 1, sizeof(HistoryEntry)).event->target,
        99u);
    const PendingEntry late{0, 0, 0, 0, event.target, PendingEntry::body_of(&event)};
    busy.core().pending.push(late);
    busy.require_found();
    busy.core().pending.pop();
    busy.require_in_order();
}

TEST_CASE("Worker::validate: mail of another epoch is found") {
    BusyWorker busy;
    WireEvent wire{};
    wire.time = 1e9;
    wire.epoch = busy.core().epochs.epoch();
    MailBuffer& outbox = (busy.sends().outboxes().*opened(ToWorkersOf{})).back().mail;
    outbox.append(wire, wire.payload());
    busy.require_in_order();
    outbox.clear();
    ++wire.epoch;
    outbox.append(wire, wire.payload());
    busy.require_found();
    outbox.clear();
    (busy.sends().*opened(StagedOf{})).append(wire, wire.payload());
    busy.require_found();
    (busy.sends().*opened(StagedOf{})).clear();
    busy.require_in_order();
}

TEST_CASE("Worker::validate: a double free and a write to a freed chunk are found") {
    BusyWorker busy;
    PlatformHeap& heap = busy.group().heap;
    void* chunk = heap.allocate(64);
    heap.free(chunk, 64);
    busy.require_in_order();
    heap.free(chunk, 64);
    busy.require_found();
}

TEST_CASE("Worker::validate: overwritten masks of an LP's heap are found") {
    BusyWorker busy;
    Block& block = *StateSpans::find(busy.lp().process);
    busy.check_found("a chunk in use is marked as free", block.free_mask, ~std::uint64_t{0});
    busy.check_found("a block has no owner", block.owner, nullptr);
}

}  // namespace nw::test
