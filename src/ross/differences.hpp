// What tw_snapshot_delta() keeps of an event, until the event is taken back or final.
//
// ROSS hangs it on the event. Here there is a list for each LP, in the order of its events: a reverse handler wants the
// last. It lies outside of the LP's heap, since the first is dropped when its event is committed.
#pragma once

#include <cstddef>
#include <list>
#include <vector>

#include <numawarp/event.hpp>

namespace nw::ross {

// Old bytes of a state where a handler changed them.
struct Difference {
    struct Run {
        std::size_t offset;
        std::size_t bytes;
    };
    std::size_t state_bytes = 0;
    std::vector<std::byte> runs{};  // each a Run, and its bytes
    double time = 0;                // of the event
    const std::byte* event =
        nullptr;  // its payload, by which it is known among those of equal times
};

// Of an LP.
using Differences = std::list<Difference>;

// Of all LPs, by gid: each LP's worker writes its own. Empty where no reverse handler will be called, or the model does
// not use them.
extern std::vector<Differences> differences;

// The model names one of the three functions. It is known before main(). All but these is in other files: who calls
// something in differences.cpp has it linked.
extern bool uses_differences;

}  // namespace nw::ross
