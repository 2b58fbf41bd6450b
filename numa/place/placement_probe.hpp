// SPDX-License-Identifier: Apache-2.0
// The placement probe reads from the kernel on which nodes the pages of groups are, so that a user
// can check whether the pages of a run are on the nodes of their workers. It queries a sample of
// the pages and scales the result.
//
// All pages are divided into stretches of equal length, and the sample contains one page of each
// stretch. The position of this page varies between stretches, but is equal in every probe of the
// same pages. The first pages of all stretches would be a biased sample: segments have regular
// lengths, and mostly the first pages of a segment are touched.
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

#include "numa/os/os.hpp"
#include "numa/place/group_pages.hpp"
#include "numa/place/placement_policy.hpp"

namespace nw {

// The pages of one kind, as 4 KiB pages.
struct PagePlacement {
    std::uint64_t pages = 0;             // number of pages, touched or not
    std::uint64_t queried = 0;           // pages that were queried; resident ≤ queried ≤ pages
    std::uint64_t resident = 0;          // number of queried pages that are in memory, Σ by_node
    std::uint64_t misplaced = 0;         // resident pages not on their group's home (if it has one)
    std::vector<std::uint64_t> by_node;  // resident pages, by the node's number

    // 0 if no page is resident.
    double remote_share() const noexcept;
    // Estimates from the sample: for all nodes, and for one node.
    std::uint64_t resident_bytes() const noexcept { return scaled_bytes(resident); }
    std::uint64_t resident_bytes(NodeId node) const noexcept;

  private:
    std::uint64_t scaled_bytes(std::uint64_t sampled_pages) const noexcept;
};

struct Placement {
    std::array<PagePlacement, page_kinds> kinds;
    Status status = 0;  // the kernel's error, if a query failed

    // By home: the number of resident pages of the sample whose groups have this home, and the
    // number of these pages that are on another node.
    struct ByHome {
        std::uint64_t resident = 0;
        std::uint64_t misplaced = 0;
    };
    std::map<NodeId, ByHome> homes;

    const PagePlacement& of(PageKind kind) const noexcept {
        return kinds[static_cast<std::size_t>(kind)];
    }
    // The share of misplaced pages over all kinds. Each kind has the weight of its resident bytes,
    // because all kinds are sampled at the same rate. 0 if no page is resident.
    double remote_share() const noexcept;
    std::uint64_t resident_bytes() const noexcept;
    std::map<NodeId, HomeMemory> memory_by_home() const;
};

// The size of the sample at the end of a run.
inline constexpr std::size_t pages_of_last_sample = 65'536;

// Queries all pages if their number is at most `sample_pages_max`; otherwise a sample of at most
// this size (a few more if groups grow meanwhile). Throws std::bad_alloc. Cost: about 0.2 µs per
// queried page, and a copy of every segment table.
Placement probe_placement(Os& os, std::span<const PlacedGroup* const> groups,
                          std::size_t sample_pages_max);

}  // namespace nw
