// How a worker comes to rest: for good, when the run ends, or for a pause in which the run is saved.
//
// Both begin at a GVT round, and all workers learn of it with the same result. From then on nobody
// executes; whatever is on its way arrives. Two rounds on, every send lies in epochs that a quiesced
// round covers. All workers see the same round say so, and none cuts another one.
//
// Owner: Worker. Thread: the worker's.
#pragma once

#include <cstdint>

#include "worker/worker_core.hpp"

namespace nw {

class Standstill {
  public:
    enum class Phase : std::uint8_t { running, pausing, paused, draining, finished };

    explicit Standstill(const WorkerCore& core) : core_(core) {}

    Phase phase() const noexcept { return phase_; }
    bool is_at_rest() const noexcept {
        return phase_ == Phase::paused || phase_ == Phase::finished;
    }

    // With the round that was learnt last. Requires: running, or pausing when the run ends amid that.
    void begin_end() noexcept { begin(Phase::draining); }
    // `bound`: what is before it will be final and saved.
    void begin_pause(const EventKey& bound) noexcept {
        begin(Phase::pausing);
        saved_bound_ = bound;
        save_due_ = WorkerCore::Clock::time_point::max();
    }

    // A round was learnt while pausing or draining.
    void on_gvt(bool quiesced) noexcept {
        if (rounds() >= 2 && quiesced) nothing_in_flight_ = true;
    }
    std::uint32_t rounds() const noexcept { return core_.epochs.seen() - since_; }
    bool nothing_in_flight() const noexcept { return nothing_in_flight_; }

    // Called at the end of a turn in which all that is final was committed.
    void settle() noexcept {
        if (nothing_in_flight_) phase_ = phase_ == Phase::pausing ? Phase::paused : Phase::finished;
    }

    // The end of a pause.
    void resume() noexcept {
        phase_ = Phase::running;
        nothing_in_flight_ = false;
    }
    void finish() noexcept { phase_ = Phase::finished; }

    const EventKey& saved_bound() const noexcept { return saved_bound_; }  // of the last pause
    // The worker asks for a pause from then on.
    void save_at(WorkerCore::Clock::time_point time) noexcept { save_due_ = time; }
    bool is_save_due() const noexcept { return core_.now >= save_due_; }

  private:
    void begin(Phase phase) noexcept {
        phase_ = phase;
        since_ = core_.epochs.seen();
    }

    const WorkerCore& core_;
    Phase phase_ = Phase::running;
    bool nothing_in_flight_ = false;
    std::uint32_t since_ = first_round;  // rounds done when it began
    EventKey saved_bound_{};
    WorkerCore::Clock::time_point save_due_ = WorkerCore::Clock::time_point::max();
};

}  // namespace nw
