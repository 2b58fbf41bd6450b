// SPDX-License-Identifier: Apache-2.0
// Finds words that point out of the region, in the heaps of LPs. A run that continues in another
// process must handle such words, because the program, its data and its libraries may have other
// addresses in that process.
//
// A word counts as a pointer if its value is in a mapping of this process outside of the region.
// AddressMap::look_up() makes exceptions for some values that are probably numbers, and for
// pointers into the stacks of handlers. A number may be equal to an address by chance. The result
// is used for three decisions: whether a warning is printed, whether a group must stay on its rank,
// and whether a word is replaced in the other process. A word is replaced if it still has the value
// that the LP's constructor stored. The word then gets the value that the constructor stores in the
// other process.
//
// Thread: any, on heaps that do not change meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "numa/os/os.hpp"

namespace nw {

class LpHeap;

// A word, and its value when it was read.
struct OutsideWord {
    std::uint64_t* where;
    std::uint64_t value;
};

// The stack of the calling thread; empty if the C library cannot determine it.
AddressRange own_stack() noexcept;

enum class PointsTo : std::uint8_t {
    nothing,
    program,  // the executable's own code and data
    other,    // main()'s stack, libraries, libc's heap
};

// The mappings of this process without the region, at the time of construction.
class AddressMap {
  public:
    // `stacks` are the stacks of threads that run handlers. Words that point into these stacks do
    // not count. Such a word is usually in bytes that the LP has never set. The variables of a
    // handler no longer exist after the handler, so a correct handler does not use the word.
    explicit AddressMap(Os& os, std::vector<AddressRange> stacks = {});

    PointsTo look_up(std::uint64_t word) const noexcept;
    // The difference between the executable's load address and its link address. It is 0 if the
    // executable is not position-independent.
    static std::uint64_t program_shift() noexcept;

  private:
    static bool holds(const std::vector<AddressRange>& ranges, std::uint64_t word) noexcept;

    std::vector<AddressRange> program_;  // the three lists are sorted by address
    std::vector<AddressRange> other_;
    std::vector<AddressRange> stacks_;
    std::uint64_t lowest_ = 0;  // bounds of all mappings; most words are outside of them
    std::uint64_t highest_ = 0;
};

// Calls visit(word, points_to) for every word in the heap's chunks that points out of the region.
void for_each_outside_pointer(
    const LpHeap& heap, const AddressMap& map,
    const std::function<void(std::uint64_t* word, PointsTo points_to)>& visit);

// The number of words in one library, or in the program, that point into the region.
struct PointersFromOutside {
    std::string holder;  // a library's file, or "the program"
    std::uint64_t words = 0;
};
// Searches the variables of the program and its libraries, and the thread_local variables of the
// calling thread. The search finds pointers to memory of an LP. A library may have stored such a
// pointer when a handler first called the library. Two adjacent numbers of 32 bits, read as one
// word, may be equal to an address in the region. Therefore the constructor records all words with
// such a value before the run, and found() does not count a recorded word that is unchanged. Not
// searched: thread_local variables of other threads, and libc's heap. Without /proc nothing is
// searched.
// Thread: one. The object is made when there is a region and no LP yet; found() is called when no
// LP is left. Cost: reads all of these variables twice, some milliseconds.
class OutsidePointerScan {
  public:
    explicit OutsidePointerScan(Os& os);
    std::vector<PointersFromOutside> found() const;

  private:
    Os& os_;
    std::vector<OutsideWord> before_;  // sorted by address
};

}  // namespace nw
