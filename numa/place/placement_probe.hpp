// The placement probe: on which nodes the pages of groups really are, as the kernel says, so that a
// user can see whether a run is local. It asks for a sample and scales up what it finds.
//
// The sample takes one page out of each stretch of equal length of all pages, at a place within the
// stretch that changes from stretch to stretch, but is the same in every probe of the same pages.
// Always taking the first would be wrong: segments have regular lengths, and their first pages are
// the ones that are touched.
//
// Thread: any, while workers run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <numawarp/ids.hpp>

#include "numa/heap/group_memory.hpp"
#include "numa/os/os.hpp"
#include "numa/place/group_pages.hpp"
#include "numa/place/placement_policy.hpp"

namespace nw {

// 4 KiB pages; those of one kind in Placement::kinds.
struct PagePlacement {
    std::uint64_t pages = 0;             // that there are, touched or not
    std::uint64_t asked = 0;             // of these; resident ≤ asked ≤ pages
    std::uint64_t resident = 0;          // of those asked, Σ by_node
    std::uint64_t misplaced = 0;         // of these: not on the home of their group, which has one
    std::vector<std::uint64_t> by_node;  // resident pages, by the node's number

    // 0 where nothing is resident.
    double remote_share() const noexcept;
    // Estimated from the sample: of all, and of what is on one node.
    std::uint64_t resident_bytes() const noexcept { return scaled_bytes(resident); }
    std::uint64_t resident_bytes(NodeId node) const noexcept;

  private:
    std::uint64_t scaled_bytes(std::uint64_t sampled_pages) const noexcept;
};

struct Placement {
    std::array<PagePlacement, page_kinds> kinds;
    Status status = 0;  // why the kernel would not say more

    // Sampled resident pages by the home of their group, and those of them that are elsewhere.
    struct ByHome {
        std::uint64_t resident = 0;
        std::uint64_t misplaced = 0;
    };
    std::map<NodeId, ByHome> homes;

    const PagePlacement& of(PageKind kind) const noexcept {
        return kinds[static_cast<std::size_t>(kind)];
    }
    // Over all kinds, each with the weight of its resident bytes (kinds are sampled alike). 0 where
    // nothing is resident.
    double remote_share() const noexcept;
    std::uint64_t resident_bytes() const noexcept;
    std::map<NodeId, HomeMemory> memory_by_home() const;
};

// Asks for all pages if they are no more than `sample_pages_max`, else for at most so many (a few more
// when groups grow meanwhile). Throws std::bad_alloc. Cost: some 0.2 µs a page asked for, and a copy
// of every segment table.
Placement probe_placement(Os& os, std::span<const GroupMemory* const> groups,
                          std::size_t sample_pages_max);

}  // namespace nw
