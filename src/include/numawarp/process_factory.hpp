// SPDX-License-Identifier: Apache-2.0
// The data that the engine needs about an LP class: how its LPs are built, and which handlers and
// events it has.
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

// Describes how the engine builds and treats LPs of one class. Made by nw::process<Lp>(…).
struct ProcessFactory {
    std::function<LogicalProcess*(LpId)> build;    // builds an LP, inside the LP's heap
    std::size_t object_bytes = 0;                  // size of the class
    std::size_t state_bytes = 0;                   // 0: no plain state, hence no --rollback copy
    void* (*state_of)(LogicalProcess*) = nullptr;  // returns the plain state of an LP
    bool has_reverse = false;                      // the class has on_reverse() or undo()
    bool has_commit = false;                       // the class has on_commit() or commit()
    bool has_end_condition = false;                // the class has can_end()
    std::vector<EventTypeInfo> events{};           // event types that the class declares
};

// Describes LPs of class Lp, which are built as Lp(LpId, shared…). Requires: data that the LPs
// share in this way does not change after set-up.
template <class Lp, class... Shared>
ProcessFactory process(Shared... shared) {
    static_assert(std::is_base_of_v<LogicalProcess, Lp>,
                  "an LP class must derive from nw::LogicalProcess");
    // If Lp does not override a handler, the type of the pointer to the handler names
    // LogicalProcess as its class. nw::Handles overrides on_reverse() and on_commit() in all cases;
    // has_undo() and has_commit() return whether these overrides call a function of Lp.
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
