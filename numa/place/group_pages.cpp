// SPDX-License-Identifier: Apache-2.0
#include "numa/place/group_pages.hpp"

#include <algorithm>

#include "numa/os/os.hpp"

namespace nw {

std::uint64_t pages_shared_between_groups(std::span<const PlacedGroup* const> groups) {
    struct Edge {
        std::uintptr_t page;
        const PlacedGroup* group;
        bool begins;
    };
    std::vector<Edge> edges;
    for_each_page_range(groups, [&edges](const PlacedGroup& group, const PageRange& range) {
        const auto address = reinterpret_cast<std::uintptr_t>(range.base);
        edges.push_back({address / page_bytes, &group, true});
        edges.push_back({(address + range.bytes + page_bytes - 1) / page_bytes, &group, false});
    });
    std::sort(edges.begin(), edges.end(),
              [](const Edge& a, const Edge& b) { return a.page < b.page; });

    // The groups that hold pages do not change between two edges.
    std::uint64_t shared = 0;
    std::vector<const PlacedGroup*> holders;  // one entry per open range
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const bool foreign =
            std::any_of(holders.begin(), holders.end(),
                        [&holders](const PlacedGroup* group) { return group != holders[0]; });
        if (foreign) shared += edges[i].page - edges[i - 1].page;
        if (edges[i].begins)
            holders.push_back(edges[i].group);
        else
            holders.erase(std::find(holders.begin(), holders.end(), edges[i].group));
    }
    return shared;
}

}  // namespace nw
