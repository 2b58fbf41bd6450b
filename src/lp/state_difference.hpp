// SPDX-License-Identifier: Apache-2.0
// Describes the first difference between an LP's memory and a snapshot, for --check-rollback. The
// user of this option must find the member that a rollback does not restore.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "numa/os/os.hpp"

namespace nw {

class LpHeap;
struct Snapshot;

// Returns the first difference that is found in this order: a byte of the LP's object, which is at
// `object` and has `object_bytes` bytes; a byte or the size of another allocation; an allocation
// that exists only in the snapshot; an allocation that exists only now. For example:
//     byte 24 of the LP's object (40 bytes) was 0x05 and is 0x07
// Returns an empty text if there is no difference. Returns no value if the only differences are
// words that point into `stacks`, the stacks of handlers. The objects on these stacks no longer
// exist, so the words are not used. (g++ 12 keeps such an address in a coroutine's frame for every
// braced list.)
// Requires: the snapshot is of this heap, and the caller is in platform mode.
std::optional<std::string> describe_difference(const LpHeap& heap, const Snapshot& snapshot,
                                               const void* object, std::size_t object_bytes,
                                               std::span<const AddressRange> stacks);

}  // namespace nw
