// SPDX-License-Identifier: Apache-2.0
#include "engine/running_call.hpp"

#include <fmt/format.h>

#include "api/lp_kinds.hpp"
#include "engine/watched_thread.hpp"
#include "event/event_record.hpp"
#include "lp/group.hpp"

namespace nw {

EventKey RunningCall::key() const noexcept { return event != nullptr ? event->key() : hook_key; }

RunningHandler RunningCall::handler() const noexcept {
    RunningHandler handler{.hook = hook, .time = key().time, .irrevocable = true};
    if (lp != nullptr)
        handler.lp = lp->id;
    else if (group != nullptr)
        handler.lp = group->lps[group->count].id;
    if (event != nullptr) {
        handler.sender = event->sender;
        handler.type = event->type;
    }
    return handler;
}

std::string describe_event(const EventRecord& event, const LpKinds& kinds) {
    return fmt::format("{} at time {}, {} from {}: ", kinds.name(event.target), event.time,
                       kinds.event_name(event.target, event.type), kinds.name(event.sender));
}

std::string describe_call(const RunningCall& call, const LpKinds& kinds) {
    if (call.event == nullptr)
        return fmt::format("{} at time {} in {}: ", kinds.name(call.lp->id), call.hook_key.time,
                           call.hook);
    std::string words = describe_event(*call.event, kinds);
    if (*call.hook != '\0') words.append(call.hook).append(": ");
    return words;
}

}  // namespace nw
