// Words in the heaps of LPs that point out of them, as far as one can see from their value: what a
// run that goes on in another process must mind, where addresses of the program, its data and its
// libraries may be others.
//
// A word whose value lies in a mapping of this process outside of the region counts as a pointer. That
// a number has such a value by chance is possible. What depends on it: a warning, that a group stays on its
// rank, and that a word which holds what a constructor gave it gets what the constructor gives it now.
//
// Thread: any, on heaps that nobody changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "numa/os/os.hpp"

namespace nw {

class LpHeap;

// A word and what it held when it was looked at.
struct OutsideWord {
    std::uint64_t* where;
    std::uint64_t value;
};

// The stack of the calling thread; empty if the C library does not know it.
AddressRange own_stack() noexcept;

enum class PointsTo : std::uint8_t {
    nothing,
    program,  // the executable's own code and data
    other,    // main()'s stack, libraries, libc's heap
};

// What is mapped in this process, but for the region, when the map is made.
class AddressMap {
  public:
    // Without `stacks`, those of threads that run handlers. Of a handler's own variables nothing is left
    // when it returns: what looks like a pointer there is bytes that its objects never set.
    explicit AddressMap(Os& os, std::vector<AddressRange> stacks = {});

    PointsTo look_up(std::uint64_t word) const noexcept;
    // Where the executable was loaded, less where it was linked to be: 0 if it can be nowhere else.
    static std::uint64_t program_shift() noexcept;

  private:
    static bool holds(const std::vector<AddressRange>& ranges, std::uint64_t word) noexcept;

    std::vector<AddressRange> program_;  // all by address
    std::vector<AddressRange> other_;
    std::vector<AddressRange> stacks_;
    std::uint64_t lowest_ = 0;  // of all that is mapped: most words are below or above
    std::uint64_t highest_ = 0;
};

// Calls visit(word, points_to) for every word of the heap's chunks that points out.
void for_each_outside_pointer(
    const LpHeap& heap, const AddressMap& map,
    const std::function<void(std::uint64_t* word, PointsTo points_to)>& visit);

// Words outside that point into the region.
struct PointersFromOutside {
    std::string holder;  // a library's file, or "the program"
    std::uint64_t words = 0;
};
// Looks at the variables of the program and its libraries, and the calling thread's thread_local ones: what
// a library that was first used in a handler keeps of its LP. Two small numbers side by side may look like
// an address of the region: what is there before the run is remembered, and does not count.
// Other threads' variables, and what lies in libc's heap, are not looked at; nothing is without /proc.
// Thread: one, when there is a region and no LP yet, and again when no LP is left. Cost: reads all of that
// twice, some milliseconds.
class OutsideLook {
  public:
    explicit OutsideLook(Os& os);
    std::vector<PointersFromOutside> found() const;

  private:
    Os& os_;
    std::vector<OutsideWord> before_;  // by address
};

}  // namespace nw
