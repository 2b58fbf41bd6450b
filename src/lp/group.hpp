// SPDX-License-Identifier: Apache-2.0
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
#include "memory/heap/group_memory.hpp"
#include "memory/image/outside_pointers.hpp"

namespace nw {

struct Group {
    Group(MemorySource& source, std::uint32_t id)
        : memory(source, GroupId{id}), heap(memory.platform()), mail(id, memory.mail()) {}

    GroupMemory memory;
    PlatformHeap& heap;
    LpRecord* lps = nullptr;  // array of `count` records
    std::uint32_t count = 0;
    // Identities of anti-messages whose events have not arrived or are still pending. Each waits
    // until its event is about to be executed.
    std::unordered_set<std::uint64_t> unmatched_anti_messages;
    // Pointers that the LPs' constructors stored and that point out of the LPs' heaps. Filled only
    // with --checkpoint, or if groups may move between ranks.
    std::vector<OutsideWord> constructed;
    // With --measure-interval, by LP: number of intervals for which the LP's figures were
    // evaluated.
    std::vector<std::uint32_t> intervals_seen;
    std::uint32_t& intervals_seen_of(const LpRecord& lp) noexcept {
        return intervals_seen[static_cast<std::size_t>(&lp - lps)];
    }
    // The group stays on its rank, because handlers stored pointers that are invalid on another
    // rank.
    bool stays = false;
    // Number of rolled-back events of each LP; a number that has reached its maximum stays there.
    // Empty if no event was rolled back.
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

// Number of LPs that have not allowed the end of the run yet.
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
