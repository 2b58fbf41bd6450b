// LPs that are told of their events as structs, one handler for each:
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
// An LP with a plain state derives from nw::PlainStateProcess<State, nw::Handles<Desk, Arrival, Leave>>.
//
// Optional hooks, also with the nw::Event as a last argument: undo(nw::Context&, const Arrival&), for
// --rollback reverse, of all events or of none; commit(const Arrival&), of as many as one likes.
#pragma once

#include <concepts>
#include <type_traits>

#include <numawarp/event_types.hpp>
#include <numawarp/logical_process.hpp>

namespace nw {

// The base of the LP class `Self` that handles these events.
template <class Self, class... Events>
class Handles : public LogicalProcess {
  public:
    // Its events with their numbers; by it the engine knows their names.
    using EventTypes = EventList<Events...>;

    // Calls Self::on() for the event. One that is none of the list is a ModelError.
    void on_event(Context& context, const Event& event) final {
        static_assert((... && handles<Events>),
                      "an LP class has for each event that it handles a public "
                      "void on(nw::Context&, const THE_EVENT&)");
        EventTypes::visit(event, [&]<class E>(const E& what) {
            if constexpr (requires { self().on(context, what, event); })
                self().on(context, what, event);
            else
                self().on(context, what);
        });
    }
    // Calls Self::undo() for it.
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
    // Calls Self::commit() for it, if there is one for this event.
    void on_commit(const Event& event) final {
        if constexpr (has_commit())
            EventTypes::visit(event, [&]<class E>(const E& what) {
                if constexpr (requires { self().commit(what, event); })
                    self().commit(what, event);
                else if constexpr (requires { self().commit(what); })
                    self().commit(what);
            });
    }

    // Whether Self has undo(), for all of its events. For nw::process.
    static constexpr bool has_undo() noexcept {
        constexpr bool all = (... && undoes<Events>);
        static_assert(all || !(... || undoes<Events>),
                      "undo() is there for some events only: --rollback reverse needs it for all "
                      "that the class handles");
        if constexpr (requires { &Self::undo; })
            static_assert(all || !std::is_member_function_pointer_v<decltype(&Self::undo)>,
                          "undo() is void undo(nw::Context&, const THE_EVENT&)");
        return all;
    }
    // Whether Self has commit(), for any of its events. For nw::process.
    static constexpr bool has_commit() noexcept {
        constexpr bool any = (... || commits<Events>);
        if constexpr (requires { &Self::commit; })
            static_assert(any || !std::is_member_function_pointer_v<decltype(&Self::commit)>,
                          "commit() is void commit(const THE_EVENT&)");
        return any;
    }

  protected:
    // Schedules an event at now() + delay. Also for LPs of other classes: they must have the event under the
    // same number. A Priority may follow.
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
