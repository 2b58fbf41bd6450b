// What a model writer derives from. One object per LP, built in the LP's own heap: whatever it
// allocates in its constructor and handlers (new, std::vector, malloc, …) is rolled back with it.
#pragma once

#include <type_traits>

#include <numawarp/context.hpp>
#include <numawarp/event.hpp>

namespace nw {

// A logical process, LP for short: a state that nobody else sees, and what it does at each event. Hooks
// of one LP are called one at a time, those of different LPs at the same time.
class LogicalProcess {
  public:
    // Called when the run is over, never by a rollback.
    virtual ~LogicalProcess() = default;

    // Before the first event, at time 0: schedules the LP's first events.
    virtual void on_start(Context&) {}

    // One event. May be executed too early and undone: touch nothing but the LP's own memory, the
    // Context, and data of the model that never changes after set-up.
    virtual void on_event(Context& context, const Event& event) = 0;

    // Undoes on_event for --rollback reverse: finds the state as on_event left it, must leave it as
    // on_event found it. Scheduled events and random draws are undone by the engine. Not called for
    // an event whose on_event failed: with reverse, a handler must fail before it changes anything.
    virtual void on_reverse(Context& context, const Event& event);

    // The event is final. The LP's state may be further ahead by now: use the event alone.
    virtual void on_commit(const Event&) {}

    // The run is over and every event is final: now() is the end time; output() works, schedule()
    // does not.
    virtual void on_end(Context&) {}

    // True once this LP would let the run end. When every LP has said so at some committed event,
    // the run ends exactly after the last of those events.
    virtual bool can_end() const { return false; }
};

// An LP whose whole changing state is one plain struct: it can be rolled back by copying it. Other
// members may hold what never changes after construction. `Base`: nw::Handles<…>, for an LP that is told
// of its events as structs.
template <class State, class Base = LogicalProcess>
class PlainStateProcess : public Base {
    static_assert(std::is_trivially_copyable_v<State>,
                  "--rollback copy restores the state bytewise: no containers, no pointers to own");

  public:
    // By which nw::process knows that there is a plain state.
    using PlainState = State;
    // What events may change, and all that they may change.
    State state{};
};

}  // namespace nw
