// SPDX-License-Identifier: Apache-2.0
// Tests which steps of a rollback a method requests, and for which entries. A fake rollback records
// the steps.
#include "lp/rollback_methods.hpp"

#include <vector>

#include <numawarp/model.hpp>

#include "lp/state_keeping.hpp"
#include "memory/heap/group_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_os.hpp"

namespace nw::test {
namespace {

struct Reversible final : LogicalProcess {
    explicit Reversible(LpId) {}
    void on_event(Context&, const Event&) override {}
    void on_reverse(Context&, const Event&) override {}
};

// A rollback of `entries`, the newest of which is the last one.
class NotedUndoing final : public Undoing {
  public:
    explicit NotedUndoing(std::vector<HistoryEntry>& entries)
        : entries_(entries), left_(entries.size()) {}

    LpRecord& lp() noexcept override { return lp_; }
    PlatformHeap& heap() noexcept override { return memory_.platform(); }
    History::Ordinal wanted() const noexcept override { return 0; }
    HistoryEntry& entry_at(History::Ordinal position) noexcept override {
        return entries_[position];
    }
    HistoryEntry* take_back_newest() noexcept override {
        return left_ == 0 ? nullptr : &entries_[--left_];
    }
    void call_on_reverse(HistoryEntry& entry) override { reversed.push_back(entry.event); }
    bool coast(History::Ordinal) override { return true; }

    std::vector<const EventRecord*> reversed;
    std::size_t left() const noexcept { return left_; }

  private:
    MemorySource source_{linux_os(), MemoryMode::numa, 1};
    GroupMemory memory_{source_, GroupId{0}};
    LpRecord lp_{memory_, 0, 0};
    std::vector<HistoryEntry>& entries_;
    std::size_t left_;
};

TEST_CASE("reverse calls on_reverse() for each event that was executed, newest first") {
    const RollbackMethod& reverse = method_of(Rollback::reverse);
    std::vector<EventRecord> events(3);
    for (EventRecord& event : events) event.begin();
    events[1].failed = true;
    std::vector<HistoryEntry> entries;
    for (EventRecord& event : events) entries.push_back({&event, nullptr, nullptr, 0, 0});
    StateKeeper keeper({reverse.rules(process<Reversible>(), 0)}, true);
    NotedUndoing undoing(entries);
    keeper.restore(undoing);
    CHECK(undoing.left() == 0);
    CHECK(undoing.reversed == std::vector<const EventRecord*>{&events[2], &events[0]});
}

}  // namespace
}  // namespace nw::test
