// Runs a handler in its LP's heap and brings what it threw out of it.
#pragma once

#include <exception>
#include <string>

#include "numa/heap_scope.hpp"

namespace nw {

// The message of the exception being handled, in platform memory: what an exception thrown in a
// handler owns is the LP's and goes with the next restore. Requires: called in a catch block.
std::string caught_text();

// What became of a handler: nothing thrown, or the text of what was.
struct HeapCallResult {
    bool threw = false;
    std::string text{};
};

// Calls function() with `heap` current. An exception ends here, destroyed in the heap that it
// allocated from. Heap faults (heap_fault.hpp) are for the caller to ask for.
template <class Function>
HeapCallResult call_in_heap(LpHeap& heap, Function&& function) {
    HeapCallResult result;
    const HeapScope scope(heap);
    try {
        function();
    } catch (...) {
        const PlatformScope platform;
        result.threw = true;
        result.text = caught_text();
    }
    return result;
}

}  // namespace nw
