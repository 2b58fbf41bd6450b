// SPDX-License-Identifier: Apache-2.0
// LPs that receive their events as structs, with one handler for each struct:
//
//     struct Arrival { std::uint32_t customer; };
//     struct Leave {};
//     struct Desk final : nw::Handles<Desk, Arrival, Leave> {
//         explicit Desk(nw::LpId) {}
//         void on_start(nw::Context& c) override { send(c, c.self(), 1.0, Arrival{7}); }
//         void on(nw::Context& c, const Arrival&) { send(c, c.self(), 2.0, Leave{}); }
//         void on(nw::Context&, const Leave&, const nw::Event& event) { … event.sender() … }
//     };
//
// An LP with a plain state derives from nw::PlainStateProcess<State, nw::Handles<Desk, Arrival,
// Leave>>.
//
// Optional handlers, which may also have the nw::Event as last parameter:
// - undo(nw::Context&, const Arrival&), for --rollback reverse: the class must have it for all of
//   its events or for none.
// - commit(const Arrival&), called when the event is final: the class may have it for some events.
#pragma once

#include <concepts>
#include <type_traits>

#include <numawarp/event_types.hpp>
#include <numawarp/logical_process.hpp>

namespace nw {

// The base of the LP class `Self`, which handles the events `Events`.
template <class Self, class... Events>
class Handles : public LogicalProcess {
  public:
    // The events with their numbers. The engine reads the names of the events from this list.
    using EventTypes = EventList<Events...>;

    // Calls Self::on() for the event. Throws ModelError if the event is not in the list.
    void on_event(Context& context, const Event& event) final {
        static_assert((... && handles<Events>),
                      "an LP class must have a public void on(nw::Context&, const THE_EVENT&) for "
                      "each event that it handles");
        EventTypes::visit(event, [&]<class E>(const E& what) {
            if constexpr (requires { self().on(context, what, event); })
                self().on(context, what, event);
            else
                self().on(context, what);
        });
    }
    // Calls Self::undo() for the event. Throws ModelError if the class has no undo().
    void on_reverse(Context& context, const Event& event) final {
        if constexpr (has_undo())
            EventTypes::visit(event, [&]<class E>(const E& what) {
                if constexpr (requires { self().undo(context, what, event); })
                    self().undo(context, what, event);
                else
                    self().undo(context, what);
            });
        else
            LogicalProcess::on_reverse(context, event);
    }
    // Calls Self::commit() for the event, if the class has a commit() for this event.
    void on_commit(const Event& event) final {
        if constexpr (has_commit())
            EventTypes::visit(event, [&]<class E>(const E& what) {
                if constexpr (requires { self().commit(what, event); })
                    self().commit(what, event);
                else if constexpr (requires { self().commit(what); })
                    self().commit(what);
            });
    }

    // True if Self has undo() for all of its events. Used by nw::process().
    static constexpr bool has_undo() noexcept {
        constexpr bool all = (... && undoes<Events>);
        static_assert(all || !(... || undoes<Events>),
                      "undo() exists for some events only: --rollback reverse needs it for all "
                      "events that the class handles");
        if constexpr (requires { &Self::undo; })
            static_assert(all || !std::is_member_function_pointer_v<decltype(&Self::undo)>,
                          "undo() must be declared as void undo(nw::Context&, const THE_EVENT&)");
        return all;
    }
    // True if Self has commit() for at least one of its events. Used by nw::process().
    static constexpr bool has_commit() noexcept {
        constexpr bool any = (... || commits<Events>);
        if constexpr (requires { &Self::commit; })
            static_assert(any || !std::is_member_function_pointer_v<decltype(&Self::commit)>,
                          "commit() must be declared as void commit(const THE_EVENT&)");
        return any;
    }

  protected:
    // Schedules an event at now() + delay. If the target is an LP of another class, the list of
    // that class must contain the event with the same number. `priority`: one Priority, or nothing.
    // Requires: as for Context::schedule().
    template <class E>
    static void send(Context& context, LpId to, VirtualTime delay, const E& event,
                     std::same_as<Priority> auto... priority) {
        detail::schedule_typed<EventTypes>(context, to, delay, event, priority...);
    }

  private:
    template <class E>
    static constexpr bool handles = requires(Self& self, Context& c, const E& what) {
        self.on(c, what);
    }
    || requires(Self& self, Context& c, const E& what, const Event& event) {
        self.on(c, what, event);
    };
    template <class E>
    static constexpr bool undoes = requires(Self& self, Context& c, const E& what) {
        self.undo(c, what);
    }
    || requires(Self& self, Context& c, const E& what, const Event& event) {
        self.undo(c, what, event);
    };
    template <class E>
    static constexpr bool commits = requires(Self& self, const E& what) {
        self.commit(what);
    }
    || requires(Self& self, const E& what, const Event& event) { self.commit(what, event); };

    Self& self() noexcept { return static_cast<Self&>(*this); }
};

}  // namespace nw
