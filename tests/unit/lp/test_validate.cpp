// SPDX-License-Identifier: Apache-2.0
// Goal: the functions of validate.hpp find each damage, and accept a valid LP.
//
// Method: an LP with its own history, as the engine would leave it. A part of the history is final.
// The history has saved states, and sends of both kinds. Each case damages a new LP in one way.
#include "lp/validate.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "event/wire_event.hpp"
#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"
#include "util/check.hpp"

using namespace nw;

namespace {

struct Idle final : LogicalProcess {
    void on_event(Context&, const Event&) override {}
};

class LpAtWork {
  public:
    explicit LpAtWork(Rollback method) : memory_(source_, GroupId{0}) {
        rules = method_of(method).rules(ProcessFactory{}, 3);
        rules_by_kind = {rules};
        keeper_ = std::make_unique<StateKeeper>(rules_by_kind, true);
        lp.process = &process_;
        block = lp.heap.allocate(40);
        keeper_->begin(lp);
        for (int i = 0; i < 10; ++i) execute(1 + i);
        // Four events are final. The entries for coasting forward to the first of the other events
        // are kept.
        for (int i = 0; i < 4; ++i) free_side_effects(at(lp.committed++));
        facts.gvt = facts.final_before.time = 5;
        const History::Ordinal needed = keeper_->trim(lp, lp.committed, memory_.platform());
        while (lp.history.head() != needed) lp.history.drop_first();
    }

    HistoryEntry& at(History::Ordinal position) {
        return lp.history.at(position, rules.entry_stride);
    }
    HistoryEntry& newest() { return at(lp.history.tail() - 1); }
    HistoryEntry& oldest() { return at(lp.history.head()); }
    SideEffect& anti_of_newest() { return *newest().side_effects; }

    // The handler draws random numbers and sends two events: one within the worker, one to another
    // worker.
    void execute(VirtualTime time) {
        HistoryEntry& entry = lp.history.append(rules.entry_stride, memory_.platform());
        entry = {&new_event(time, 9, lp.id), nullptr, nullptr, 3, 2};
        keeper_->save(lp, entry, memory_.platform());
        entry.event->status = EventStatus::processed;
        lp.last_key = entry.event->key();
        entry.sent = &new_event(time + 10, lp.id, 6);
        entry.sent->sequence = lp.sequence++;
        send_to_other_worker(entry, time + 10);
        lp.random_counter += entry.random_used;
        lp.has_uncommitted = true;
    }

    StateKeepingRules rules;
    std::vector<StateKeepingRules> rules_by_kind{rules};
    LpExpectations facts{rules_by_kind, 64};

  private:
    MemorySource source_{linux_os(), MemoryMode::numa, 1};
    GroupMemory memory_;

  public:
    LpRecord lp{memory_, 5, 0};
    void* block = nullptr;

  private:
    EventRecord& new_event(VirtualTime time, std::uint32_t sender, std::uint32_t target) {
        auto& event = *new (memory_.platform().allocate(sizeof(EventRecord))) EventRecord{};
        event.time = time;
        event.sender = sender;
        event.serial = serial_++;
        event.target = target;
        return event;
    }
    void send_to_other_worker(HistoryEntry& entry, VirtualTime time) {
        WireEvent anti{};
        anti.time = time;
        anti.sender = lp.id;
        anti.sequence = lp.sequence++;
        anti.kind = WireKind::anti_message;
        auto* effect =
            new (memory_.platform().allocate(sizeof(SideEffect) + sizeof anti)) SideEffect{};
        effect->bytes = sizeof anti;
        effect->kind = SideEffect::Kind::remote_send;
        std::memcpy(effect->content(), &anti, sizeof anti);
        entry.side_effects = effect;
    }
    static void free_side_effects(HistoryEntry& entry) { entry.side_effects = nullptr; }

    std::unique_ptr<StateKeeper> keeper_;
    Idle process_;
    std::uint32_t serial_ = 0;
};

struct Damage {
    std::string what;
    std::function<void(LpAtWork&)> done;
};

void check_each(const std::vector<Damage>& damages) {
    for (const Damage& damage : damages) {
        INFO(damage.what);
        LpAtWork at_work(Rollback::snapshot);
        damage.done(at_work);
        CHECK_THROWS_AS(validate_whole(at_work.lp, at_work.facts), InternalError);
    }
}

}  // namespace

TEST_CASE("validate: a valid LP passes after rollbacks and commits") {
    LpAtWork at_work(Rollback::snapshot);
    REQUIRE(at_work.lp.history.size() > 6);
    REQUIRE(at_work.lp.committed != at_work.lp.history.head());
    REQUIRE_NOTHROW(validate_newest(at_work.lp, at_work.facts));
    REQUIRE_NOTHROW(validate_whole(at_work.lp, at_work.facts));

    // A valid LP whose newest event has failed.
    HistoryEntry& failed = at_work.newest();
    SideEffect words{nullptr, 0, SideEffect::Kind::failure, 0};
    at_work.lp.sequence -= failed.sent_count;
    failed.sent = nullptr;
    failed.side_effects = &words;
    failed.sent_count = failed.random_used = 0;
    failed.event->failed = at_work.lp.failed = true;
    REQUIRE_NOTHROW(validate_whole(at_work.lp, at_work.facts));
    failed.random_used = 1;
    REQUIRE_THROWS_AS(validate_whole(at_work.lp, at_work.facts), InternalError);
}

TEST_CASE("validate: damage to an LP's record is found") {
    check_each({
        {"the commit position is after the history",
         [](LpAtWork& a) { a.lp.committed = a.lp.history.tail() + 1; }},
        {"the commit position is before the history",
         [](LpAtWork& a) { a.lp.committed = a.lp.history.head() - 1; }},
        {"an LP with uncommitted events is not listed",
         [](LpAtWork& a) { a.lp.has_uncommitted = false; }},
        {"an event that may end the run is not recorded",
         [](LpAtWork& a) { a.newest().event->lets_end = true; }},
        {"the last key belongs to an older event", [](LpAtWork& a) { a.lp.last_key.time -= 1; }},
        {"the LP is marked as failed without a failed event",
         [](LpAtWork& a) { a.lp.failed = true; }},
        {"the LP has a failed event and is not marked",
         [](LpAtWork& a) { a.newest().event->failed = true; }},
        {"fewer random numbers are counted than the events have drawn",
         [](LpAtWork& a) { a.lp.random_counter = 5; }},
        {"the newest entry is missing", [](LpAtWork& a) { a.lp.history.drop_last(); }},
        {"the ring contains more entries than it has room for",
         [](LpAtWork& a) {
             for (int i = 0; i < 8; ++i) a.lp.history.drop_first();
         }},
    });
}

TEST_CASE("validate: damage to an LP's saved states is found") {
    check_each({
        {"the next saved state is overdue",
         [](LpAtWork& a) { a.lp.save_due = a.lp.history.tail() - 1; }},
        {"a saved state is beyond the history",
         [](LpAtWork& a) { a.lp.saved_states->newest->position += 3; }},
        {"the positions do not descend",
         [](LpAtWork& a) {
             SavedState& newest = *a.lp.saved_states->newest;
             newest.position = newest.older->position;
         }},
        {"no saved state at the oldest entry",
         [](LpAtWork& a) {
             SavedState* oldest = a.lp.saved_states->newest;
             while (oldest->older != nullptr) oldest = oldest->older;
             ++oldest->position;
         }},
        {"no saved state", [](LpAtWork& a) { a.lp.saved_states->newest = nullptr; }},
        {"a saved state of the wrong kind",
         [](LpAtWork& a) { a.rules_by_kind.front().saved = StateKeepingRules::Saved::copies; }},
        {"an interval of zero", [](LpAtWork& a) { a.lp.saved_states->interval = 0; }},
    });
}

TEST_CASE("validate: damage to an LP's history is found") {
    check_each({
        {"the events are not in order",
         [](LpAtWork& a) {
             a.newest().event->time = 1;
             a.lp.last_key = a.newest().event->key();
         }},
        {"two irrevocable events have the same key",
         [](LpAtWork& a) {
             EventRecord& event = *a.oldest().event;
             EventRecord& next = *a.at(a.lp.history.head() + 1).event;
             event.canceled_by_identity = next.canceled_by_identity = true;
             event.time = next.time;
         }},
        {"an event of another LP", [](LpAtWork& a) { a.newest().event->target = 4; }},
        {"an executed event is also pending",
         [](LpAtWork& a) { a.newest().event->status = EventStatus::pending; }},
        {"a canceled event is in the history",
         [](LpAtWork& a) { a.newest().event->status = EventStatus::canceled; }},
        {"an irrevocable event has failed", [](LpAtWork& a) { a.oldest().event->failed = true; }},
        {"an event beyond GVT is irrevocable", [](LpAtWork& a) { a.facts.gvt = 3; }},
        {"a payload is larger than the maximum",
         [](LpAtWork& a) { a.newest().event->payload_bytes = 65; }},
        {"a negative time", [](LpAtWork& a) { a.oldest().event->time = -1; }},
        {"an irrevocable event has unsent messages",
         [](LpAtWork& a) { a.oldest().side_effects = a.newest().side_effects; }},
        {"more events were sent than counted", [](LpAtWork& a) { a.newest().sent_count = 1; }},
        {"the next sequence is wrong", [](LpAtWork& a) { a.lp.sequence += 2; }},
        {"an event was sent into the past", [](LpAtWork& a) { a.newest().sent->time = 2; }},
        {"an event was sent by another LP", [](LpAtWork& a) { a.newest().sent->sender = 6; }},
        {"a sent event is canceled without its cause",
         [](LpAtWork& a) { a.newest().sent->status = EventStatus::canceled; }},
        {"the chain of sends has a cycle",
         [](LpAtWork& a) { a.newest().sent->next_sent = a.newest().sent; }},
        {"an anti-message has a wrong size", [](LpAtWork& a) { a.anti_of_newest().bytes -= 8; }},
        {"a failure message without a failure",
         [](LpAtWork& a) { a.anti_of_newest().kind = SideEffect::Kind::failure; }},
    });
}

TEST_CASE("validate: damage to an LP's heap is found with the LP") {
    LpAtWork at_work(Rollback::snapshot);
    Block* block = StateSpans::find(at_work.block);
    block->free_mask |= 1;  // the chunk is in use, and could be allocated again
    REQUIRE_NOTHROW(validate_newest(at_work.lp, at_work.facts));
    REQUIRE_THROWS_AS(validate_whole(at_work.lp, at_work.facts), InternalError);
}
