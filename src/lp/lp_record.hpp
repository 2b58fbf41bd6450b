// What the engine knows about one LP, hot things first. It stands in the platform memory of the LP's
// group, beside its neighbours. Owner: the worker that owns the group.
#pragma once

#include <cstdint>

#include "base/digest.hpp"
#include "event/event_key.hpp"
#include "lp/history.hpp"

namespace nw {

class LogicalProcess;
class LpHeap;
struct SavedStates;

struct alignas(64) LpRecord {
    // First line: every execution.
    LogicalProcess* process;
    EventKey last_key;  // of the newest executed event; time -1 before the first
    std::uint64_t random_counter;
    std::uint32_t sequence;  // next send's place in the order; rolled back
    // Next send's identity; never rolled back. Wraps early, like ordinals.
    std::uint32_t serial = 0u - 64;
    LpHeap* heap;
    std::uint32_t unmatched_anti_messages;  // of this LP's among the group's
    std::uint32_t rolled_back;  // executed events that were undone; stays at its maximum

    // Second line.
    alignas(64) [[no_unique_address]] History history;
    // Before this position the next saved state is taken.
    History::Ordinal save_due = History::first;
    // Entries before this are final (head ≤ committed ≤ tail).
    History::Ordinal committed = History::first;
    std::uint32_t id;
    SavedStates* saved_states;  // null where undo lies in the history entries
    std::uint8_t kind;          // LpKinds
    bool has_uncommitted;       // on its worker's list
    bool failed;                // a handler failed; nothing is executed until that is undone
    bool ended;                 // can_end() was true after a final event
    bool may_have_ended;        // or after one that is not final yet, and perhaps undone
    Digest digest;              // over committed events
};
static_assert(sizeof(LpRecord) == 128, "two cache lines");

}  // namespace nw
