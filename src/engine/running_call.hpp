// SPDX-License-Identifier: Apache-2.0
// The function of the model that a worker is calling, with its LP and event. These data are stored
// here and not in local variables for two reasons: a fault in a handler jumps over the stack, and
// HandlerWatch reads the data while the handler runs.
//
// Thread: the worker's thread.
#pragma once

#include <cstdint>
#include <string>

#include "api/event_key.hpp"

namespace nw {

struct EventRecord;
class LpKinds;
struct Group;
struct HistoryEntry;
struct LpRecord;
struct RunningHandler;

struct RunningCall {
    Group* group = nullptr;  // if lp is null: its LP lps[count] is being built or destroyed
    LpRecord* lp = nullptr;
    EventRecord* event = nullptr;   // null in on_start(), on_end(), constructors and destructors
    HistoryEntry* entry = nullptr;  // of the event, if the engine has a history
    EventKey hook_key{};            // if there is no event; only time and sender are used
    bool silent = false;            // coasting forward: nothing is sent or written
    const char* hook = "";          // name of the function, if it is not on_event()

    // The key of the event, or hook_key.
    EventKey key() const noexcept;
    // Describes the call as irrevocable. Async-signal-safe.
    RunningHandler handler() const noexcept;
};

// Returns, for example, "LP 3 at time 2, event of type 1 from LP 4: " or "host 3 at time 2, event
// Arrival from router 4: ".
std::string describe_event(const EventRecord& event, const LpKinds& kinds);

// Like describe_event(), with the hook: "LP 3 at time 2 in on_start(): ". Requires: the call has an
// LP.
std::string describe_call(const RunningCall& call, const LpKinds& kinds);

}  // namespace nw
