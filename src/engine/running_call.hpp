// Which of the model's functions a worker calls at the moment, and for whom. It is kept here and not in
// locals: a fault in a handler jumps over the stack, and the watch asks amid the handler.
//
// Thread: the worker's.
#pragma once

#include <cstdint>
#include <string>

#include "event/event_key.hpp"

namespace nw {

struct EventRecord;
class LpKinds;
struct Group;
struct HistoryEntry;
struct LpRecord;
struct RunningHandler;

struct RunningCall {
    Group* group = nullptr;  // without an LP: the one is meant that is being built or destroyed
    LpRecord* lp = nullptr;
    EventRecord* event = nullptr;   // null in on_start(), on_end(), constructor and destructor
    HistoryEntry* entry = nullptr;  // where there is a history
    EventKey key{};                 // of the event; else the time is the hook's
    bool silent = false;            // coasting: nothing is sent or written
    const char* hook = "";          // which function, where it is not on_event()

    // Async-signal-safe. Said to be certain.
    RunningHandler handler() const noexcept;
};

// "LP 3 at time 2, event of type 1 from LP 4: ", "host 3 at time 2, event Arrival from router 4: "
std::string describe_event(const EventRecord& event, const LpKinds& kinds);

// The same, with the hook: "LP 3 at time 2 in on_start(): ". Requires: it has an LP.
std::string describe_call(const RunningCall& call, const LpKinds& kinds);

}  // namespace nw
