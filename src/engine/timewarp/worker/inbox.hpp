// SPDX-License-Identifier: Apache-2.0
// Receives the events and anti-messages that other workers and ranks have sent to a worker, from
// mail rings and bottom halves. The class has no state.
//
// Thread: the worker's thread.
#pragma once

#include <cstdint>

#include "engine/timewarp/worker/standstill.hpp"
#include "engine/timewarp/worker/worker_core.hpp"
#include "event/wire_event.hpp"

namespace nw {

class BottomHalf;
class Handovers;
class Rollbacks;

class Inbox {
  public:
    Inbox(WorkerCore& core, Handovers& handovers, Rollbacks& rollbacks,
          const Standstill& standstill)
        : core_(core), handovers_(handovers), rollbacks_(rollbacks), standstill_(standstill) {}

    // Receives all mail that has arrived. Returns whether there was any mail.
    bool drain();

  private:
    Group* group_of(BottomHalf& mail);
    void receive_or_pass_on(const WireEvent& wire);
    void receive(const WireEvent& wire, Group& group);

    WorkerCore& core_;
    Handovers& handovers_;
    Rollbacks& rollbacks_;
    const Standstill& standstill_;
};

}  // namespace nw
