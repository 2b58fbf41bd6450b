// SPDX-License-Identifier: Apache-2.0
// Executes events irrevocably: it keeps no history, and nothing is undone. The sequential and the
// conservative engine share this class. Each of them adds only the rule that decides when an event
// may be executed.
//
// Thread: the thread of one worker. The main thread runs the constructor. After the workers have
// ended, the main thread may adopt the executor for on_end() and the destructors of LPs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <numawarp/context.hpp>

#include "api/event_sink.hpp"
#include "engine/inorder/in_order_mail.hpp"
#include "engine/memory_budget.hpp"
#include "engine/running_call.hpp"
#include "engine/watched_thread.hpp"
#include "event/event_prefetcher.hpp"
#include "event/pending_set.hpp"
#include "event/short_events.hpp"
#include "lp/group.hpp"
#include "memory/handler/fault_guard.hpp"
#include "numa/os/os.hpp"
#include "plan/run_plan.hpp"
#include "results/measures/interval_sums.hpp"
#include "results/output/output_writer.hpp"
#include "results/statistics/worker_figures.hpp"
#include "util/counters.hpp"
#include "util/paranoid.hpp"

namespace nw {

class MeasureSums;
class AddressMap;
class Exchange;
class SavedGroups;
class SectionWriter;
struct PausedRun;
struct SavedPart;
struct WireEvent;

// The data that the executors of a rank share. `groups` is indexed by the group's number. Each
// executor makes its own groups.
struct InOrderWorld {
    // `exchange` connects this rank with the others; null: there are no others.
    InOrderWorld(const RunPlan& plan, MemorySource& memory, OutputWriter& output,
                 Exchange* exchange);

    // Puts the event into the bottom half of its target's group. Requires: the group is on this
    // rank.
    void deliver(const WireEvent& wire);

    LpRecord& lp(std::uint32_t id) const noexcept {
        const Partition::Position position = plan.partition.position(id);
        return groups[position.group]->lps[position.index];
    }

    const RunPlan& plan;
    MemorySource& memory;
    OutputWriter& output;
    Exchange* const exchange;
    const std::uint32_t rank;
    std::vector<std::unique_ptr<Group>> groups;
    std::vector<ReadyList> ready_lists;  // by executor
    MemoryBudget budget;
};

class alignas(64) InOrderExecutor final : private detail::EventSink, public WatchedThread {
  public:
    InOrderExecutor(InOrderWorld& world, std::uint32_t self);
    ~InOrderExecutor();

    // Thread: the executor's thread. It calls adopt_thread() before every other function.
    // leave_thread() is the last call.
    void adopt_thread();
    // Moves the executor to the calling thread. Requires: the calling thread has called
    // adopt_thread() of some executor before, and the previous thread of this executor has called
    // leave_thread().
    void join_thread() noexcept;
    AddressRange stack() const noexcept { return stack_; }  // of the adopted thread
    // Builds the groups that the partition assigns to this executor. On a restart, it also reads
    // the content of the groups from the saved run.
    void set_up();
    // Calls on_start() of the executor's LPs, except on a restart. `move_mail` is called from time
    // to time, to move mail between ranks.
    void start(const std::function<void()>& move_mail);

    // Executes events before `horizon`, at most `events_max`. It stops earlier in three cases: no
    // event is left; HandlerWatch ends the batch; or the model has an end condition and all LPs of
    // this executor have ended. Returns the number of executed events. Throws ModelError if a
    // handler fails.
    std::uint64_t run(VirtualTime horizon, std::uint64_t events_max) {
        return (this->*run_batch_)(horizon, events_max);
    }

    VirtualTime next_time() { return pending_.min_time(); }  // infinity: none
    bool all_ended() const noexcept {
        return world_.plan.kinds.has_end_condition() && lps_not_ended_ == 0;
    }
    bool dropped_beyond_end() const noexcept { return dropped_beyond_end_; }

    // Call it every few thousand events. Throws MachineError if the run does not fit into
    // --memory-cap.
    void apply_memory_pressure(MemoryBudget::Clock::time_point now);

    // Reads the mail of this executor's groups.
    void fetch_mail();
    InOrderMail& mail() noexcept { return mail_; }
    void hand_over_output(VirtualTime bound);
    void hand_over_all_output(VirtualTime bound);

    // Writes the groups and their progress. Requires: no mail is under way, all output is handed
    // over, and everything before `gvt` is executed.
    SavedPart save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map,
                   VirtualTime gvt);
    // Gives the groups and their progress to another engine. Requires: as save(). After that, the
    // executor executes nothing.
    void leave_to(PausedRun& paused, VirtualTime gvt);
    // Called instead of set_up() and start(): continues the run of another engine.
    void continue_from(PausedRun& paused);

    void run_on_end(LpRecord& lp, VirtualTime end_time, MeasureSums& measures);
    // Calls the model's destructors. Throws ModelError.
    void destroy_lps(const std::atomic<int>& stop_signal);
    Counters& counters() noexcept { return counters_; }
    const WorkerFigures& figures() const noexcept { return figures_; }
    const IntervalSums* intervals() const noexcept { return &intervals_; }
    EventKey at() const noexcept { return call_.key(); }  // of the event executed last
    std::uint32_t failed_lp() const noexcept { return call_.lp->id; }
    const std::vector<Group*>& groups() const noexcept { return groups_; }
    VirtualTime last_time() const noexcept { return last_time_; }

    // Checks all data of the executor. Throws InternalError if something is wrong. Returns the
    // approximate number of objects that it has checked.
    std::uint64_t validate() const;

  private:
    // Additional work for each event, which only some runs need. One event loop is compiled for
    // each combination of these members.
    struct Extras {
        bool counts;   // committed events by kind and type
        bool commits;  // on_commit()
        bool ends;     // can_end()
        bool looks;    // --check-model, or measures by intervals

        static constexpr std::size_t combinations = 16;
        static constexpr Extras of(std::size_t number) noexcept {
            return {(number & 1) != 0, (number & 2) != 0, (number & 4) != 0, (number & 8) != 0};
        }
        constexpr std::size_t number() const noexcept {
            return std::size_t{counts} | std::size_t{commits} << 1 | std::size_t{ends} << 2 |
                   std::size_t{looks} << 3;
        }
    };
    using RunBatch = std::uint64_t (InOrderExecutor::*)(VirtualTime horizon,
                                                        std::uint64_t events_max);
    RunBatch choose_loop() const noexcept;
    auto lps_ahead() const noexcept;
    template <Extras extras>
    std::uint64_t run_batch(VirtualTime horizon, std::uint64_t events_max);
    template <Extras extras>
    std::uint64_t execute_batch(VirtualTime horizon, std::uint64_t events_max);
    template <Extras extras>
    void execute(const EventPrefetcher::Place& place, EventRecord& event,
                 EventPrefetcher::Guess guess);
    template <Extras extras>
    void execute_timed(const EventPrefetcher::Place& place, EventRecord& event,
                       EventPrefetcher::Guess guess);
    void sample_intervals(Group& group, const LpRecord& lp, VirtualTime now);

    void read_group_of(SavedGroups& saved, Group& group);
    void resume(const PendingEntry& entry);
    Group& group_of(std::uint32_t lp) const noexcept;
    void run_on_start(Group& group, LpRecord& lp);
    void send(const detail::ScheduledEvent& event) override;
    void output(Context& context, std::size_t table, std::span<const OutputValue> row) override;
    bool owns(std::uint32_t group) const noexcept {
        return world_.plan.partition.first_owner(group) == self_;
    }
    // Adds to the pending set the events that the handler has scheduled for this executor's LPs.
    // Sends events for LPs of other executors to these executors.
    void release_sends(LpRecord& lp);
    [[noreturn]] void handler_failed(std::string_view what);
    RunningHandler running_handler() const noexcept override;
    void check_if_due();  // util/paranoid.hpp

    InOrderWorld& world_;
    Partition::Owner self_;
    PendingSet pending_;
    FaultGuard guard_;
    AddressRange stack_;
    std::string failure_;  // of the handler that failed
    Counters counters_;
    WorkerFigures figures_;
    IntervalSums intervals_;
    std::vector<Group*> groups_;
    std::vector<OutputRow> rows_;
    InOrderMail mail_{world_, counters_};
    EventPrefetcher ahead_;
    ShortEvents short_;
    // The handlers in execute_batch() use this context. docs/decisions/0044 explains the alignment.
    alignas(64) Context context_;
    const RunBatch run_batch_;
    const bool is_alone_;  // it executes all LPs of the run
    // The number of events until the next event whose execution is timed. Used only if events are
    // counted.
    std::uint32_t until_timed_ = events_between_timed;
    RunningCall call_;
    // Chain of the events that the handler has scheduled for this executor's LPs.
    EventRecord* sent_ = nullptr;
    std::uint64_t released_at_ = 0;  // bytes in use when free memory was last released

    WalkPace walks_;
    std::uint64_t counted_events_ = 0;  // executed events that walks_ has counted

    VirtualTime last_time_ = 0;
    std::uint64_t lps_not_ended_ = 0;
    bool dropped_beyond_end_ = false;
};

}  // namespace nw
