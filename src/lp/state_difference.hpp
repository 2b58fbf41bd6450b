// Where an LP's memory is not what a snapshot of it says, in words: for --check-rollback, whose user has
// to find the member that does not come back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "numa/os/os.hpp"

namespace nw {

class LpHeap;
struct Snapshot;

// The first byte that differs: in the LP's object, which lies at `object` and has `object_bytes`, else in
// any other allocation; else an allocation that is there now and was not, or the other way round. Empty
// if all is equal. None if all that differs are words that point into `stacks`, where handlers ran: what they pointed to
// is gone. (g++ 12 keeps such an address in a coroutine's frame for every braced list.)
//     byte 24 of the LP's object (40 bytes) was 0x05 and is 0x07
// Requires: the snapshot is of this heap. Call in platform mode.
std::optional<std::string> describe_difference(const LpHeap& heap, const Snapshot& snapshot,
                                               const void* object, std::size_t object_bytes,
                                               std::span<const AddressRange> stacks);

}  // namespace nw
