// SPDX-License-Identifier: Apache-2.0
// The base classes of a model's LPs. The engine constructs one object per LP, in the heap of that
// LP. All memory that the LP allocates in its constructor and handlers (new, std::vector, malloc,
// …) is rolled back with the LP.
#pragma once

#include <type_traits>

#include <numawarp/context.hpp>
#include <numawarp/event.hpp>

namespace nw {

// A logical process (LP): a state that only this LP can access, and the handlers that change it at
// each event.
//
// Thread: the engine never calls two handlers of the same LP at the same time. Handlers of
// different LPs run concurrently.
class LogicalProcess {
  public:
    // Called after the run, and never in a rollback.
    virtual ~LogicalProcess() = default;

    // Called before the first event, at time 0, to schedule the LP's first events.
    virtual void on_start(Context&) {}

    // Handles one event. The engine may execute the event too early and then roll it back.
    // Requires: the handler accesses only the LP's own memory, the Context, and data of the model
    // that never changes after set-up.
    virtual void on_event(Context& context, const Event& event) = 0;

    // Undoes on_event() for --rollback reverse. At the call, the LP has the state that on_event()
    // has left. on_reverse() must restore the state that the LP had before on_event(). The engine
    // undoes scheduled events and random draws itself. The engine does not call on_reverse() for an
    // event whose on_event() failed. With --rollback reverse, a handler must therefore fail before
    // it changes anything. The default throws ModelError.
    virtual void on_reverse(Context& context, const Event& event);

    // Called when the event is final. At this time the LP may already have executed later events.
    // Requires: the handler uses only the event.
    virtual void on_commit(const Event&) {}

    // Called after the run, when every event is final. now() is the end time. output() is allowed;
    // schedule() is not.
    virtual void on_end(Context&) {}

    // Returns true if this LP allows the run to end. The engine calls can_end() after on_start()
    // and after each event. The LP has allowed the end when a call has returned true after
    // on_start() or after a committed event. From then on, the engine does not call can_end()
    // again. When all LPs have allowed the end, the run ends exactly after the event at which the
    // last LP allowed it.
    virtual bool can_end() const { return false; }
};

// An LP whose whole mutable state is one plain struct, so that --rollback copy can save and restore
// it by copying. Other members may hold only data that never changes after construction. `Base`:
// nw::Handles<…> for an LP that receives its events as structs.
template <class State, class Base = LogicalProcess>
class PlainStateProcess : public Base {
    static_assert(std::is_trivially_copyable_v<State>,
                  "--rollback copy restores the state byte by byte: it must not have containers or "
                  "pointers to memory that it owns");

  public:
    // Marks the class for nw::process() as a class with a plain state.
    using PlainState = State;
    // The mutable state. Events may change this member and nothing else.
    State state{};
};

}  // namespace nw
