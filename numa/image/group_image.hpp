// The memory of a group of LPs as a stream of bytes, and the same memory again in another process: at
// the same addresses, so that every pointer in it that points into it is right. Pages that are all
// zero are left out.
//
// The mail of the group is no part of it: nothing must be under way. Nor is where its pages are: who
// reads them back touches them first, and so has them.
//
// Thread: the group's owner.
#pragma once

#include <cstddef>
#include <functional>

#include "numa/heap/group_memory.hpp"

namespace nw {

using WriteBytes = std::function<void(const void* bytes, std::size_t size)>;
using ReadBytes = std::function<void(void* bytes, std::size_t size)>;

// Requires: the memory comes from a region. Throws what write() throws.
void write_group_memory(const GroupMemory& memory, const WriteBytes& write);

// What the group had is lost, without any destructor. Heaps of its LPs must be told
// (LpHeap::adopt). Requires: memory of the same group in a region at the same address with slots of the
// same size. Throws what read() throws, and std::bad_alloc.
void read_group_memory(GroupMemory& memory, const ReadBytes& read);

}  // namespace nw
