// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/host_placement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include <fmt/format.h>

namespace nw {

// The page figures of one rank, which only this rank writes. All zero: the rank has not published
// figures yet.
struct alignas(64) HostPlacement::Pages {
    struct Home {
        std::atomic<std::uint64_t> bytes;
        std::atomic<std::uint64_t> remote_bytes;
    };
    std::array<Home, published_nodes_max> homes;
    std::atomic<std::uint64_t> migrated_bytes;
    std::atomic<std::uint64_t> migration_ns;
    std::atomic<std::uint64_t> other_threads_ns;
    std::atomic<std::uint64_t> publications;
};

HostPlacement::HostPlacement(RankGroup& ranks, const PlacementChoice& place,
                             const WorkerPlaces& where, std::vector<std::string>& notices) {
    if (ranks.ranks() == 1 || !place.moves_workers) return;
    const std::vector<std::uint32_t>& sharers = where.sharers;
    pages_begin_ = CpuTable::bytes_for(static_cast<std::uint32_t>(where.host_places.size()));
    const std::size_t bytes = pages_begin_ + sharers.size() * sizeof(Pages);
    const bool is_alone = sharers.size() < 2;
    const bool makes = !is_alone && sharers.front() == index(ranks.rank());

    Status status = makes ? memory_.make(bytes) : 0;
    const std::vector<std::string> addresses =
        ranks.share(makes && status == 0 ? memory_.address() : "");
    if (!makes && !is_alone) status = memory_.open(addresses[sharers.front()], bytes);
    const std::vector<std::string> statuses = ranks.share(status == 0 ? "" : std::strerror(status));
    if (is_alone) return;
    const auto refused = std::find_if(sharers.begin(), sharers.end(),
                                      [&](std::uint32_t r) { return !statuses[r].empty(); });
    number_ = where.number;
    if (refused == sharers.end()) {
        assignments_ = {sharers, memory_.begin()};
        return;
    }
    notices.push_back(
        fmt::format("--place {}: same effect as local here, because ranks on the same CPUs cannot "
                    "share memory ({})",
                    place.word, statuses[*refused]));
}

HostPlacement::Pages& HostPlacement::pages_of(std::size_t number) const noexcept {
    auto* const begin = static_cast<std::byte*>(assignments_.memory) + pages_begin_;
    return std::launder(reinterpret_cast<Pages*>(begin))[number];
}

void HostPlacement::publish(const RankPages& pages) noexcept {
    if (!is_shared()) return;
    Pages& own = pages_of(number_);
    for (std::size_t n = 0; n < published_nodes_max; ++n) {
        const auto found = pages.homes.find(NodeId{static_cast<int>(n)});
        const HomeMemory home = found == pages.homes.end() ? HomeMemory{} : found->second;
        own.homes[n].bytes.store(home.bytes, std::memory_order_relaxed);
        own.homes[n].remote_bytes.store(
            static_cast<std::uint64_t>(static_cast<double>(home.bytes) * home.remote_share),
            std::memory_order_relaxed);
    }
    own.migrated_bytes.store(pages.migrated_bytes, std::memory_order_relaxed);
    own.migration_ns.store(pages.migration_ns, std::memory_order_relaxed);
    own.other_threads_ns.store(pages.other_threads_ns, std::memory_order_relaxed);
    // Pairs with the acquire in published().
    own.publications.fetch_add(1, std::memory_order_release);
}

std::optional<RankPages> HostPlacement::published() const {
    RankPages sum;
    std::map<NodeId, double> remote;
    for (std::size_t r = 0; r < assignments_.ranks.size(); ++r) {
        const Pages& pages = pages_of(r);
        if (pages.publications.load(std::memory_order_acquire) == 0) return std::nullopt;
        for (std::size_t n = 0; n < published_nodes_max; ++n) {
            const std::uint64_t bytes = pages.homes[n].bytes.load(std::memory_order_relaxed);
            if (bytes == 0) continue;
            const NodeId node{static_cast<int>(n)};
            sum.homes[node].bytes += bytes;
            remote[node] +=
                static_cast<double>(pages.homes[n].remote_bytes.load(std::memory_order_relaxed));
        }
        sum.migrated_bytes += pages.migrated_bytes.load(std::memory_order_relaxed);
        sum.migration_ns += pages.migration_ns.load(std::memory_order_relaxed);
        sum.other_threads_ns += pages.other_threads_ns.load(std::memory_order_relaxed);
    }
    for (auto& [node, home] : sum.homes)
        home.remote_share = remote[node] / static_cast<double>(home.bytes);
    return sum;
}

}  // namespace nw
