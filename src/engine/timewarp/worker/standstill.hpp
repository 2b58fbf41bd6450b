// SPDX-License-Identifier: Apache-2.0
// Stops a worker, at the end of the run or for a pause. In a pause the run is saved, groups move
// between ranks, or another engine takes the run over.
//
// The end and a pause begin with a GVT round, whose result is the same for all workers. From this
// result on, no worker executes events, and messages in flight arrive. GVT counts messages in two
// sets of epochs, an older and a newer set (gvt/contribution.hpp). Two rounds later, these two sets
// together contain all messages that were sent before the stop. So the result of the same round
// shows all workers that no message is in flight (GvtResult::quiesced). After this round, no worker
// makes another cut.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstdint>

#include "engine/timewarp/worker/worker_core.hpp"
#include "gvt/contribution.hpp"

namespace nw {

class Standstill {
  public:
    enum class Phase : std::uint8_t { running, pausing, paused, draining, finished };

    explicit Standstill(const WorkerCore& core) : core_(core) {}

    Phase phase() const noexcept { return phase_; }
    bool is_at_rest() const noexcept {
        return phase_ == Phase::paused || phase_ == Phase::finished;
    }

    // Begins the end of the run with the round whose result was read last. Requires: the phase is
    // running, or pausing if the run ends during a pause.
    void begin_end() noexcept { begin(Phase::draining); }
    // The purposes of a pause. One pause may have several purposes. After a pause to leave, another
    // engine continues the run.
    struct Purpose {
        bool save = false;
        bool move = false;
        bool leave = false;
    };
    // `bound`: everything before it will be final.
    void begin_pause(const EventKey& bound, Purpose purpose) noexcept {
        begin(Phase::pausing);
        pause_began_ = core_.now;
        bound_ = bound;
        purpose_ = purpose;
        if (purpose.save) save_due_ = WorkerCore::Clock::time_point::max();
        if (purpose.move) is_move_due_ = false;
    }

    // Called for each round whose result is read in the phases pausing and draining.
    void on_gvt(bool quiesced) noexcept {
        if (rounds() >= 2 && quiesced) nothing_in_flight_ = true;
    }
    // Called after a failure: the worker then does not wait for messages in flight.
    void wait_for_nothing() noexcept { nothing_in_flight_ = true; }
    std::uint32_t rounds() const noexcept { return core_.epochs.seen() - since_; }
    bool nothing_in_flight() const noexcept { return nothing_in_flight_; }

    // Called at the end of a turn in which everything that is final was committed.
    void settle() noexcept {
        if (nothing_in_flight_) phase_ = phase_ == Phase::pausing ? Phase::paused : Phase::finished;
    }

    // Ends a pause.
    void resume() noexcept {
        time_paused_ += WorkerCore::Clock::now() - pause_began_;
        phase_ = Phase::running;
        nothing_in_flight_ = false;
    }
    void finish() noexcept { phase_ = Phase::finished; }

    // Data of the last pause.
    const EventKey& bound() const noexcept { return bound_; }
    Purpose purpose() const noexcept { return purpose_; }
    WorkerCore::Clock::time_point pause_began() const noexcept { return pause_began_; }

    // Make the worker request a pause: save_at() from `time` on, and the two other functions at the
    // next cut.
    void save_at(WorkerCore::Clock::time_point time) noexcept { save_due_ = time; }
    void move_soon() noexcept { is_move_due_ = true; }
    void leave_soon() noexcept { is_leave_due_ = true; }
    bool is_leave_due() const noexcept { return is_leave_due_; }
    // Also contributes the clock, if the worker is the first of the run.
    void contribute(Contribution& sums) const noexcept {
        sums.save = core_.now >= save_due_ ? 1 : 0;
        sums.move = is_move_due_ ? 1 : 0;
        sums.leave = is_leave_due_ ? 1 : 0;
        if (core_.self.rank == 0 && core_.self.worker == 0)
            sums.clock_ns = static_cast<std::uint64_t>(
                std::chrono::nanoseconds(core_.now.time_since_epoch() - time_paused()).count());
    }

  private:
    void begin(Phase phase) noexcept {
        phase_ = phase;
        since_ = core_.epochs.seen();
    }

    // Duration of all pauses, including the current one.
    WorkerCore::Clock::duration time_paused() const noexcept {
        const bool is_pausing = phase_ == Phase::pausing || phase_ == Phase::paused;
        return is_pausing ? time_paused_ + (core_.now - pause_began_) : time_paused_;
    }

    const WorkerCore& core_;
    Phase phase_ = Phase::running;
    bool nothing_in_flight_ = false;
    std::uint32_t since_ = first_round;  // last round that was read when the phase began
    EventKey bound_{};
    Purpose purpose_{};
    WorkerCore::Clock::time_point pause_began_{};
    WorkerCore::Clock::duration time_paused_{};
    WorkerCore::Clock::time_point save_due_ = WorkerCore::Clock::time_point::max();
    bool is_move_due_ = false;
    bool is_leave_due_ = false;  // true until the pause in which the worker leaves
};

}  // namespace nw
