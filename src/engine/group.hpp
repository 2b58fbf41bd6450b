// A group: LPs that share memory pages, are owned by one worker and move together.
#pragma once

#include <cstdint>

#include "event/bottom_half.hpp"
#include "lp/lp_record.hpp"
#include "numa/group_memory.hpp"

namespace nw {

struct Group {
    Group(MemorySource& source, std::uint32_t id)
        : memory(source, GroupId{id}), heap(memory.platform()), mail(id) {}

    GroupMemory memory;
    PlatformHeap& heap;
    LpRecord* lps = nullptr;  // `count` of them
    std::uint32_t count = 0;
    BottomHalf mail;
};

}  // namespace nw
