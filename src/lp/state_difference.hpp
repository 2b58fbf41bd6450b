// Where an LP's memory is not what a snapshot of it says, in words: for --check-rollback, whose user has
// to find the member that does not come back.
#pragma once

#include <cstddef>
#include <string>

namespace nw {

class LpHeap;
struct Snapshot;

// The first byte that differs: in the LP's object, which lies at `object` and has `object_bytes`, else in
// any other allocation; else an allocation that is there now and was not, or the other way round. Empty
// if all is equal.
//     byte 24 of the LP's object (40 bytes) was 0x05 and is 0x07
// Requires: the snapshot is of this heap. Call in platform mode.
std::string describe_difference(const LpHeap& heap, const Snapshot& snapshot, const void* object,
                                std::size_t object_bytes);

}  // namespace nw
