// What the engine must know of an LP class: how its LPs are built, which hooks it has, which events.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

#include <numawarp/context.hpp>
#include <numawarp/event.hpp>
#include <numawarp/event_types.hpp>
#include <numawarp/ids.hpp>
#include <numawarp/logical_process.hpp>

namespace nw {

// How the engine builds and treats the model's LPs. Made by nw::process<Lp>(…).
struct ProcessFactory {
    std::function<LogicalProcess*(LpId)> build;    // called inside the LP's heap: allocates there
    std::size_t object_bytes = 0;                  // of the class
    std::size_t state_bytes = 0;                   // 0: no plain state, hence no --rollback copy
    void* (*state_of)(LogicalProcess*) = nullptr;  // the plain state of an LP
    bool has_reverse = false;                      // it has on_reverse(), or undo()
    bool has_commit = false;                       // it has on_commit(), or commit()
    bool has_end_condition = false;                // it has can_end()
    std::vector<EventTypeInfo> events{};           // those that the class declares
};

// LPs of class Lp, built as Lp(LpId, shared…). What is shared must not change after set-up.
template <class Lp, class... Shared>
ProcessFactory process(Shared... shared) {
    static_assert(std::is_base_of_v<LogicalProcess, Lp>, "an LP derives from nw::LogicalProcess");
    // A hook that is not overridden keeps LogicalProcess as the class in its pointer's type. nw::Handles
    // overrides them for the class, and says which of them it calls.
    constexpr bool overrides_reverse = [] {
        if constexpr (requires { Lp::has_undo(); })
            return Lp::has_undo();
        else
            return !std::is_same_v<decltype(&Lp::on_reverse),
                                   void (LogicalProcess::*)(Context&, const Event&)>;
    }();
    constexpr bool overrides_commit = [] {
        if constexpr (requires { Lp::has_commit(); })
            return Lp::has_commit();
        else
            return !std::is_same_v<decltype(&Lp::on_commit),
                                   void (LogicalProcess::*)(const Event&)>;
    }();
    constexpr bool overrides_can_end =
        !std::is_same_v<decltype(&Lp::can_end), bool (LogicalProcess::*)() const>;
    ProcessFactory factory;
    factory.build = [shared...](LpId lp) -> LogicalProcess* { return new Lp(lp, shared...); };
    factory.object_bytes = sizeof(Lp);
    factory.has_reverse = overrides_reverse;
    factory.has_commit = overrides_commit;
    factory.has_end_condition = overrides_can_end;
    if constexpr (requires { typename Lp::EventTypes; }) factory.events = Lp::EventTypes::infos();
    if constexpr (requires { typename Lp::PlainState; }) {
        factory.state_bytes = sizeof(typename Lp::PlainState);
        factory.state_of = [](LogicalProcess* lp) -> void* { return &static_cast<Lp*>(lp)->state; };
    }
    return factory;
}

}  // namespace nw
