// SPDX-License-Identifier: Apache-2.0
// --check-rollback: executes randomly selected events, undoes them, and compares each LP with its
// state before the event. The event is then pending again. When it is again the smallest pending
// event, it is executed without this check.
//
// Owner: Executor. Thread: the worker's thread.
#pragma once

#include <cstdint>
#include <string>

#include "engine/timewarp/worker/worker_core.hpp"

namespace nw {

class Rollbacks;
struct Snapshot;

class RollbackCheck {
  public:
    RollbackCheck(WorkerCore& core, Rollbacks& rollbacks);

    bool is_on() const noexcept { return is_on_; }
    bool chooses(const LpRecord& lp, const EventRecord& event) const noexcept;

    // Called before the event is executed.
    void begin(Group& group, LpRecord& lp, EventRecord& event);
    // Called after the event was executed. Throws ModelError or, if the model does not restore the
    // state itself, InternalError.
    void end(Group& group, LpRecord& lp, const EventRecord& event);
    // Called instead of end() if the handler crashed.
    void drop(Group& group) noexcept;

  private:
    std::string difference(const LpRecord& lp) const;

    WorkerCore& core_;
    Rollbacks& rollbacks_;
    const bool is_on_;
    // The LP before the event.
    Snapshot* image_ = nullptr;
    std::uint64_t random_counter_ = 0;
    std::uint32_t sequence_ = 0;
};

}  // namespace nw
