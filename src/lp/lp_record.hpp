// What the engine knows about one LP, hot things first. It stands in the platform memory of the LP's
// group, beside its neighbours. Owner: the worker that owns the group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/digest.hpp"
#include "event/event_header.hpp"
#include "event/event_key.hpp"
#include "lp/history.hpp"
#include "numa/heap/lp_heap_class.hpp"

namespace nw {

class GroupMemory;
class LogicalProcess;
struct SavedStates;

struct alignas(64) LpRecord {
    LpRecord(GroupMemory& group, std::uint32_t lp, std::uint8_t lp_kind) noexcept
        : id(lp), heap(group), kind(lp_kind) {
        last_key.time = -1;
    }

    // The event is executed. (Its first bytes are its key; a copy of the key would be one field after another.)
    void set_last_key(const EventHeader& event) noexcept {
        std::memcpy(static_cast<void*>(&last_key), &event, EventHeader::key_bytes);
    }

    // First line: every execution.
    LogicalProcess* process = nullptr;
    // Of the newest executed event; time -1 before the first. The id stands in its padding.
    [[no_unique_address]] EventKey last_key;
    std::uint32_t id;
    std::uint64_t random_counter = 0;
    std::uint32_t sequence = 0;  // next send's place in the order; rolled back
    // Next send's identity; never rolled back. Wraps early, like ordinals.
    std::uint32_t serial = 0u - 64;
    LpHeap heap;

    // Second line.
    alignas(64) [[no_unique_address]] History history;
    // Before this position the next saved state is taken.
    History::Ordinal save_due = History::first;
    // Entries before this are final (head ≤ committed ≤ tail).
    History::Ordinal committed = History::first;
    std::uint32_t unmatched_anti_messages = 0;  // of this LP's among the group's
    SavedStates* saved_states = nullptr;        // null where undo lies in the history entries
    Digest digest;                              // over committed events
    std::uint8_t kind;                          // LpKinds
    bool has_uncommitted = false;               // on its worker's list
    bool failed = false;          // a handler failed; nothing is executed until that is undone
    bool ended = false;           // can_end() was true after a final event
    bool may_have_ended = false;  // or after one that is not final yet, and perhaps undone
};
static_assert(sizeof(LpRecord) == 128, "two cache lines");

}  // namespace nw
