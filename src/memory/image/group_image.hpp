// SPDX-License-Identifier: Apache-2.0
// Writes the memory of a group of LPs as a stream of bytes, and reads it in another process. The
// memory has the same addresses in both processes, so pointers from this memory into itself stay
// valid. Pages that contain only zeros are left out.
//
// The mail of the group is not included: no message may be in flight. The placement of the pages is
// not included either: the reading thread touches the pages first and so gets them on its node.
//
// Thread: the group's owner.
#pragma once

#include <cstddef>
#include <functional>

#include "memory/heap/group_memory.hpp"

namespace nw {

using WriteBytes = std::function<void(const void* bytes, std::size_t size)>;
using ReadBytes = std::function<void(void* bytes, std::size_t size)>;

// Requires: the memory comes from a region. Throws what write() throws.
void write_group_memory(const GroupMemory& memory, const WriteBytes& write);

// Replaces the content of `memory`, without calling destructors. Afterwards the caller calls
// LpHeap::adopt for the heaps of the group's LPs.
// Requires: the bytes are of the same group, from a region at the same address with slots of the
// same size. Throws what read() throws, and std::bad_alloc.
void read_group_memory(GroupMemory& memory, const ReadBytes& read);

}  // namespace nw
