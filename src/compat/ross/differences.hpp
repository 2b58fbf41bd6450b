// SPDX-License-Identifier: Apache-2.0
// The differences that tw_snapshot_delta() keeps for an event until the event is undone or
// committed.
//
// ROSS stores a difference with its event. Here each LP has a list in the order of its events: a
// reverse handler needs the last difference. The list is not in the LP's heap, because a commit
// drops the first difference, and a rollback must not restore it.
#pragma once

#include <cstddef>
#include <list>
#include <vector>

#include <numawarp/event.hpp>

namespace nw::ross {

// The old values of the bytes that a handler changed in the state.
struct Difference {
    struct Run {
        std::size_t offset;
        std::size_t bytes;
    };
    std::size_t state_bytes = 0;
    std::vector<std::byte> runs{};  // for each changed part a Run, and then its bytes
    double time = 0;                // of the event
    // The event's payload, which identifies the event among events of equal times.
    const std::byte* event = nullptr;
};

// The differences of one LP.
using Differences = std::list<Difference>;

// The differences of all LPs, by gid. The worker of an LP writes the LP's list. Empty if no reverse
// handler will be called, or if the model does not use differences.
extern std::vector<Differences> differences;

// True if the model calls tw_snapshot(), tw_snapshot_delta() or tw_snapshot_restore(). Set before
// main(), by differences.cpp: a program contains this file only if the model calls one of these
// functions. The file therefore defines nothing else that other files call.
extern bool uses_differences;

}  // namespace nw::ross
