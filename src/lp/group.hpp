// A group: LPs that share memory pages, are owned by one worker and move together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "event/bottom_half.hpp"
#include "lp/load_meter.hpp"
#include "lp/lp_record.hpp"
#include "numa/heap/group_memory.hpp"
#include "numa/image/outside_pointers.hpp"

namespace nw {

struct Group {
    Group(MemorySource& source, std::uint32_t id)
        : memory(source, GroupId{id}), heap(memory.platform()), mail(id, memory.mail()) {}

    GroupMemory memory;
    PlatformHeap& heap;
    LpRecord* lps = nullptr;  // `count` of them
    std::uint32_t count = 0;
    // Anti-messages whose twins have not come or are still pending, by identity: each waits until its
    // twin comes up for execution.
    std::unordered_set<std::uint64_t> unmatched_anti_messages;
    // With --checkpoint: pointers out of the LPs' heaps that the LPs' constructors made.
    std::vector<OutsideWord> constructed;
    // With --measure-interval, by LP: for how many intervals its figures have been looked at.
    std::vector<std::uint32_t> intervals_seen;
    std::uint32_t& intervals_seen_of(const LpRecord& lp) noexcept {
        return intervals_seen[static_cast<std::size_t>(&lp - lps)];
    }
    bool stays = false;  // handlers made pointers that mean nothing on another rank
    // Executed events that were undone, by LP; a number stays at its maximum. Empty: none were.
    std::vector<std::uint32_t> rolled_back;
    LoadMeter load;
    BottomHalf mail;
};

inline void note_rolled_back(Group& group, const LpRecord& lp, std::uint32_t events) {
    if (group.rolled_back.empty()) [[unlikely]]
        group.rolled_back.resize(group.count);
    std::uint32_t& sum = group.rolled_back[static_cast<std::size_t>(&lp - group.lps)];
    sum += std::min(events, UINT32_MAX - sum);
}

// LPs that would not let the run end yet.
inline std::uint64_t not_ended(const Group& group) noexcept {
    return static_cast<std::uint64_t>(std::count_if(group.lps, group.lps + group.count,
                                                    [](const LpRecord& lp) { return !lp.ended; }));
}

inline void add_digest(const std::vector<Group*>& groups, Digest& sum) noexcept {
    for (const Group* group : groups)
        for (std::uint32_t i = 0; i < group->count; ++i)
            sum += group->lps[i].digest.term(LpId{group->lps[i].id});
}

}  // namespace nw
