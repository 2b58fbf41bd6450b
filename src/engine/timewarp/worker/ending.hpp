// SPDX-License-Identifier: Apache-2.0
// Determines whether the run is over, and where it ends.
//
// With an end condition (can_end()), commit lags one round behind GVT. First, each worker searches
// the events below GVT for the first event of each LP after which can_end() is true. The result of
// the next round contains whether all LPs have ended, and K, the latest of these first events.
// Without this result, it is unknown whether an event beyond K belongs to the run. A worker that is
// alone in the run has this result immediately.
//
// Owner: Worker. Thread: the worker's thread.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Committer;
enum class EndReason : std::uint8_t;
struct Contribution;
struct GvtResult;

class Ending {
  public:
    explicit Ending(WorkerCore& core);

    // Called for each new GVT. Returns whether the run ends with this GVT; the result is the same
    // on all workers. `stop_bound`: the bound at which the workers can stop if a signal requests
    // the end of the run; nullopt if they cannot stop yet.
    bool on_gvt(const GvtResult& result, const Committer& committer,
                std::optional<EventBound> stop_bound);
    // As on_gvt(), while all workers are pausing: only an end condition can end the run.
    bool on_gvt_while_pausing(const GvtResult& result);
    // Everything before this bound may be committed. Requires: on_gvt() or on_gvt_while_pausing()
    // was called for this round.
    const EventKey& final_bound() const noexcept { return final_bound_; }

    // `key` is the key of the first event after which the LP lets the run end. The event is
    // irrevocable.
    void note_end(LpRecord& lp, const EventKey& key) noexcept;
    // Whether is_known() may become true: the worker is alone, and the model has an end condition.
    bool has_end() const noexcept { return has_end_; }
    // Whether the end is known: the worker is alone, and all LPs have ended. No event that the
    // worker has not executed yet belongs to the run.
    bool is_known() const noexcept { return has_end_ && lps_not_ended_ == 0; }

    // Called when a pause begins at `bound`. Searches the events before `bound`. Requires: an end
    // condition.
    void look_at_pause(const Committer& committer, const EventKey& bound);

    // The run ends at a pause.
    void end_interrupted(VirtualTime at) noexcept;

    EndReason reason() const noexcept { return reason_; }
    VirtualTime time() const noexcept { return time_; }  // the time that the run has reached
    // Whether a signal has ended the run when only some of the events at time() were final.
    bool splits_time() const noexcept;

    // --- contributions to a GVT round ---

    void contribute(Contribution& sums) const noexcept;
    std::uint64_t lps_not_ended() const noexcept { return lps_not_ended_; }
    // The key of the latest event after which an LP let the run end.
    const EventKey& last_key() const noexcept { return last_key_; }
    // Count the events that were sent beyond the end of the run and were not undone. Only the sum
    // over all workers has a meaning: if a group has moved, another worker undoes the event.
    void note_beyond_end() noexcept { ++sent_beyond_end_; }
    void take_back_beyond_end(std::uint32_t events) noexcept { sent_beyond_end_ -= events; }

    // --- LPs that are added and removed ---

    void add(const LpRecord& lp) noexcept { lps_not_ended_ += lp.ended ? 0 : 1; }
    void add(const Group& group) noexcept;
    void remove(const Group& group) noexcept;
    // Values from a saved run: GVT, and the latest key over all its workers.
    void resume_from(VirtualTime gvt) noexcept { previous_gvt_ = gvt; }
    void resume_last_key(const EventKey& last_key) noexcept { last_key_ = last_key; }

  private:
    void evaluate_all(const Committer& committer, const EventKey& bound);
    void evaluate(LpRecord& lp, const EventKey& bound);
    bool end_at(const EventKey& last) noexcept;
    bool end(EndReason reason, VirtualTime time, const EventKey& bound) noexcept;

    WorkerCore& core_;
    const bool has_end_;  // alone, with an end condition
    VirtualTime previous_gvt_ = 0;
    std::uint64_t lps_not_ended_ = 0;
    EventKey last_key_{-1.0, 0, 0, 0};
    std::uint64_t sent_beyond_end_ = 0;
    EventKey final_bound_{};
    EndReason reason_;
    VirtualTime time_ = 0;
};

}  // namespace nw
