// SPDX-License-Identifier: Apache-2.0
// A worker of the conservative engine. All workers of all ranks execute the same sequence of
// windows, which follow from the model's declared lookahead L. Let T be the earliest time of an
// event that is still to be executed. No other LP can influence an event before T + L any more.
// (This also holds with rounding, because fl(t + d) is monotone.) Every worker executes its own
// events up to T + L.
//
// There is one reduction per window, and no barrier. At its cut, a worker sends its outgoing mail
// and contributes a lower bound of the times that it may still execute. When all workers have cut,
// the reduction yields the next T. A worker may cut before it has reached T + L: the rest of the
// window is irrevocable, and is executed while the reduction is under way. The next T is then
// earlier than without this overlap, by at most the length of the part of the window that was left
// at the cut.
//
//          T             cut      T + L
//     ─────┼──────────────┼─────────┼─────────
//                         T'        cut'    T' + L        T' ≥ cut: nothing before the cut is left
//
// When a worker reads the result, everything that was sent before the cuts has arrived
// (net/reduction_rounds.hpp). An event that is sent after its sender's cut is caused by an event at
// T' or later, so its time is at least T' + L.
//
// Compare Nicol: "The cost of conservative synchronization in parallel discrete event simulations",
// JACM 1993.
//
// Thread: the worker's own thread or its carrier. A turn never blocks.
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/inorder/in_order_executor.hpp"
#include "engine/inorder/window_overlap.hpp"
#include "engine/inorder/window_rank.hpp"
#include "engine/saved_worker.hpp"
#include "util/meter_marks.hpp"

namespace nw {

struct RunEnd;
struct WorkerTally;

class WindowWorker final : public SavedWorker {
  public:
    using Clock = SavedWorker::Clock;

    WindowWorker(WindowRank& rank, WorkerId self);

    InOrderExecutor& executor() noexcept { return executor_; }
    // Names that ThreadedRun uses for parts of a worker.
    InOrderExecutor& lps() noexcept { return executor_; }
    WindowWorker& pauses() noexcept { return *this; }
    Counters& counters() noexcept { return executor_.counters(); }

    // Calls on_start() of the worker's LPs. Throws ModelError; lps().failed_lp() then returns the
    // LP.
    void start();
    // Takes one turn. Returns whether the worker had anything to do.
    bool turn(Clock::time_point now = Clock::now(), bool is_carried = false);
    // Names that TurnLoop uses; timewarp/worker/worker.hpp describes them. A thread whose workers
    // have nothing to do sleeps until the result of the cut window is known.
    bool may_sleep() const noexcept { return !is_expecting_; }
    VirtualTime horizon() const noexcept { return time_infinity; }
    bool has_work() noexcept;
    void note_slept() noexcept {}
    bool needs_own_thread() const noexcept { return false; }
    // The worker has the result of the last window, or the rank has failed.
    bool finished() const noexcept { return finished_ || rank_.failed(); }
    // The worker has the result of the last window before a save. When this holds for all workers,
    // everything before a horizon is executed, nothing beyond it is executed, and no message is
    // under way.
    bool paused() const noexcept { return paused_; }

    AddressRange stack() const noexcept override { return executor_.stack(); }
    void save_at(Clock::time_point time) noexcept override { save_due_ = time; }
    SavedPart save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) override;
    struct PausePurpose {
        bool save;
        bool leave;  // another engine is to continue the run
    };
    PausePurpose purpose() const noexcept;
    VirtualTime paused_at() const noexcept { return result().earliest; }
    void leave_to(PausedRun& paused) { executor_.leave_to(paused, paused_at()); }
    void resume() noexcept override;
    void end_interrupted() noexcept override;

    void finalize() { executor_.hand_over_output(time_infinity); }
    // Requires: finished().
    RunEnd end() const noexcept;
    // Sets the counters, figures and groups.
    void report(WorkerTally& tally) noexcept;
    void add_sent_to(std::vector<std::uint64_t>& sums) {
        executor_.mail().batches().add_sent_to(sums);
    }

  private:
    template <class Step>
    void attempt(Step&& step) noexcept;
    bool learn(Clock::time_point now);
    VirtualTime lookahead() const noexcept;
    void begin_window(VirtualTime earliest, double overlap, Clock::time_point now);
    bool is_cut_overdue(Clock::time_point now) const noexcept;
    bool execute(Clock::time_point now);
    void cut(Clock::time_point now);
    void note_idle(Clock::time_point now);
    void report_progress(const WindowSums& sums, Clock::time_point now);
    void consider_leaving(const WindowSums& sums, Clock::time_point now);
    void begin_ending(const WindowSums& sums, Clock::time_point now);
    void end_or_pause(const WindowSums& sums, Clock::time_point now);
    const WindowSums& result() const noexcept { return rank_.rounds().result(); }
    bool is_out_of_patience(Clock::time_point now) const noexcept;
    bool has_cut() const noexcept { return cut_ != seen_; }
    bool is_first() const noexcept { return self_ == 0 && rank_.id() == RankId{0}; }

    WindowRank& rank_;
    const std::uint32_t self_;
    const bool measures_;  // whether this worker measures how large the overlap should be
    InOrderExecutor executor_;
    [[no_unique_address]] PhaseMarks marks_;  // the instrumentation of the turn
    WindowOverlap overlap_;

    std::uint32_t cut_ = first_window;   // the next window to cut
    std::uint32_t seen_ = first_window;  // the window whose result is read next
    Clock::time_point window_began_{};
    Clock::time_point waiting_since_{};  // for the result of the cut window
    bool has_warned_ = false;            // a warning about this wait was printed
    VirtualTime reached_ = 0;            // everything before this time is executed
    VirtualTime cut_at_ = 0;
    VirtualTime horizon_ = 0;  // everything before this time may be executed
    bool failed_ = false;      // true: the worker executes nothing any more
    // The steps to a standstill. First every worker stops where it is. Then each worker executes up
    // to the latest time that any worker has reached, so that all have executed the same part of
    // the run.
    enum class Ending : std::uint8_t { none, stopping, catching_up };
    Ending ending_ = Ending::none;
    // stalled_time_: the largest virtual time of an executed event so far. stalled_since_: when
    // stalled_time_ last advanced, or when the ending began.
    VirtualTime stalled_time_ = 0;
    Clock::time_point stalled_since_{};
    bool finished_ = false;
    bool leave_ = false;    // the trial has decided that another engine is to continue the run
    bool is_idle_ = false;  // the last turn found no work
    Clock::time_point last_turn_{};
    Clock::duration waited_{};   // time of turns without work
    bool is_expecting_ = false;  // the network may deliver more in the next turn
    bool paused_ = false;
    Clock::time_point save_due_ = Clock::time_point::max();
};

}  // namespace nw
