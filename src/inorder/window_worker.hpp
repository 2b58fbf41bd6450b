// A worker of the conservative engine: windows of the model's declared lookahead L, over all workers of all
// ranks. With T the earliest time at which anything is still to be executed, no event before T + L can be
// influenced by another LP any more (fl(t + d) is monotone, so rounding does not break this), and every worker
// executes its own up to there.
//
// One reduction a window, and no barrier. At its cut a worker sends off what it has for others and lays down a
// bound of what it may still execute; when all have, the reduction gives the next T. The cut may come before the
// worker is at T + L: what is left is certain, and is executed while the reduction is under way. T is then a bit
// earlier than it could be, by at most the share of the window that was left.
//
//          T             cut      T + L
//     ─────┼──────────────┼─────────┼─────────
//                         T'        cut'    T' + L        T' ≥ cut, as nothing before it is left
//
// What was sent before the cuts has arrived when a worker learns the result (window_rounds.hpp); what is
// sent after its sender's cut is caused by something at T' or later, and lies at T' + L or later.
//
// Compare Nicol: "The cost of conservative synchronization in parallel discrete event simulations", JACM
// 1993.
//
// Thread: its own. A turn never blocks.
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/saved_worker.hpp"
#include "inorder/in_order_executor.hpp"
#include "inorder/window_overlap.hpp"
#include "inorder/window_rank.hpp"

namespace nw {

class WindowWorker final : public SavedWorker {
  public:
    using Clock = SavedWorker::Clock;

    WindowWorker(WindowRank& rank, std::uint32_t self);

    InOrderExecutor& executor() noexcept { return executor_; }
    const InOrderExecutor& executor() const noexcept { return executor_; }

    // Runs on_start() of its LPs, unless the rank is broken.
    void start();
    // Returns whether there was anything to do.
    bool turn(Clock::time_point now = Clock::now());
    // Until the window's result is known. Requires: there was nothing to do, and may_sleep().
    void sleep();
    bool may_sleep() const noexcept;
    // The result of the last window is known, or the rank is broken.
    bool finished() const noexcept { return finished_ || rank_.broken(); }
    double asleep_seconds() const noexcept { return asleep_seconds_; }
    // The same of the last window before the run is saved: all workers stand still, everything before a horizon
    // is executed, nothing beyond it, and nothing is under way.
    bool paused() const noexcept { return paused_; }

    AddressRange stack() const noexcept override { return executor_.stack(); }
    void save_at(Clock::time_point time) noexcept override { save_due_ = time; }
    SavedPart save(SectionWriter& file, std::uint32_t file_number, const AddressMap& map) override;
    void resume() noexcept override;
    void end_interrupted() noexcept override;

  private:
    template <class Step>
    void attempt(Step&& step) noexcept;
    bool learn(Clock::time_point now);
    void begin_window(VirtualTime earliest, double overlap, Clock::time_point now);
    bool is_cut_overdue(Clock::time_point now) const noexcept;
    bool execute(Clock::time_point now);
    void cut(Clock::time_point now);
    void note_idle(Clock::time_point now);
    void report(const WindowSums& sums, Clock::time_point now);
    void begin_ending(const WindowSums& sums, Clock::time_point now);
    void end_or_pause(const WindowSums& sums);
    bool is_out_of_patience(Clock::time_point now) const noexcept;
    bool has_cut() const noexcept { return cut_ != seen_; }
    bool is_first() const noexcept { return self_ == 0 && rank_.id() == 0; }

    WindowRank& rank_;
    const std::uint32_t self_;
    const bool measures_;  // how large the overlap should be
    InOrderExecutor executor_;
    WindowOverlap overlap_;

    std::uint32_t cut_ = first_window;   // the window that is cut next
    std::uint32_t seen_ = first_window;  // the window whose result is learnt next
    Clock::time_point window_began_{};
    Clock::time_point waiting_since_{};  // for the result of the window that is cut
    bool has_warned_ = false;            // of it
    VirtualTime reached_ = 0;            // everything before is executed
    VirtualTime cut_at_ = 0;
    VirtualTime horizon_ = 0;  // everything before may be executed
    bool failed_ = false;      // it executes nothing more
    // On the way to a standstill. First every worker stops where it is; then each executes up to the latest time
    // at which any of them has executed something, so that all have executed the same part of the run.
    enum class Ending : std::uint8_t { none, stopping, catching_up };
    Ending ending_ = Ending::none;
    VirtualTime stands_at_ = 0;  // of the last event since that moment, or since the ending began
    Clock::time_point stands_since_{};
    bool finished_ = false;
    bool is_expecting_ = false;  // the network may have more for the next turn
    double asleep_seconds_ = 0;  // having nothing to do
    bool paused_ = false;
    Clock::time_point save_due_ = Clock::time_point::max();
};

}  // namespace nw
