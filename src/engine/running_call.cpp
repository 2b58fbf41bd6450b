#include "engine/running_call.hpp"

#include <fmt/format.h>

#include "engine/watched_thread.hpp"
#include "event/event_record.hpp"
#include "lp/group.hpp"

namespace nw {

RunningHandler RunningCall::handler() const noexcept {
    RunningHandler handler{.hook = hook, .time = key.time, .certain = true};
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

std::string describe_event(const EventRecord& event) {
    return fmt::format("LP {} at time {}, event of type {} from LP {}: ", event.target, event.time,
                       event.type, event.sender);
}

std::string describe_call(const RunningCall& call) {
    if (call.event == nullptr)
        return fmt::format("LP {} at time {} in {}: ", call.lp->id, call.key.time, call.hook);
    std::string words = describe_event(*call.event);
    if (*call.hook != '\0') words.append(call.hook).append(": ");
    return words;
}

}  // namespace nw
