// SPDX-License-Identifier: Apache-2.0
// The engine's data about one LP. The most frequently used fields are first. The records of a group
// are consecutive in the group's platform memory. Owner: the worker that owns the group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "api/event_key.hpp"
#include "event/event_header.hpp"
#include "lp/history.hpp"
#include "memory/heap/lp_heap_class.hpp"
#include "util/digest.hpp"

namespace nw {

class GroupMemory;
class LogicalProcess;
struct SavedStates;

struct alignas(64) LpRecord {
    LpRecord(GroupMemory& group, std::uint32_t lp, std::uint8_t lp_kind) noexcept
        : id(lp), heap(group), kind(lp_kind) {
        last_key.time = -1;
    }

    // Copies the event's key, which is at the beginning of its header. Assigning EventKey would
    // copy one field after another.
    void set_last_key(const EventHeader& event) noexcept {
        std::memcpy(static_cast<void*>(&last_key), &event, EventHeader::key_bytes);
    }

    // First cache line: used by every execution.
    LogicalProcess* process = nullptr;
    // Key of the newest executed event; time -1 before the first event. Executor::execute_short()
    // does not set the key: its event is irrevocable, so no later event precedes that event. `id`
    // is in the padding of last_key.
    [[no_unique_address]] EventKey last_key;
    std::uint32_t id;
    std::uint64_t random_counter = 0;
    std::uint32_t sequence = 0;  // the next send's place in the order; rolled back
    // Part of the identity of the next send; never rolled back. The first serial is close to the
    // maximum, so that serials overflow to 0 early in every run.
    std::uint32_t serial = 0u - 64;
    LpHeap heap;

    // Second cache line.
    alignas(64) [[no_unique_address]] History history;
    // The next state is saved before the event at this position.
    History::Ordinal save_due = History::first;
    // Entries before this position are final (head ≤ committed ≤ tail).
    History::Ordinal committed = History::first;
    std::uint32_t unmatched_anti_messages = 0;  // for this LP, in the group's set
    // Null until the first state is saved in the history.
    SavedStates* saved_states = nullptr;
    Digest digest;  // of the committed events, and of the events in the worker's log
    // The other members are bit-fields, so that a compiler can store newest_in_log with one access.
    std::uint8_t kind : 8;             // number in LpKinds
    bool has_uncommitted : 1 = false;  // is in the worker's list of LPs with uncommitted events
    // A handler failed. The LP executes nothing until the failed event is undone.
    bool failed : 1 = false;
    bool ended : 1 = false;  // can_end() returned true after a final event
    // can_end() returned true, perhaps after an event that was undone.
    bool may_have_ended : 1 = false;
    std::uint8_t : 4;
    // The LP's newest entry in the worker's log (PastLog); this entry may have left the log. 0: the
    // LP has no entry, and its history ends with the event that was executed last. If the LP has
    // entries in the log, these entries follow the entries in its history, and all events in its
    // history are final.
    std::uint64_t newest_in_log : 48 = 0;
};
static_assert(sizeof(LpRecord) == 128, "two cache lines");

}  // namespace nw
