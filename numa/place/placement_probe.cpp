// SPDX-License-Identifier: Apache-2.0
#include "numa/place/placement_probe.hpp"

#include <algorithm>

namespace nw {
namespace {

constexpr std::size_t pages_per_query = 4096;

// The page that is taken from the n-th stretch of `length` pages. The finalizer of MurmurHash3
// (Appleby, 2011) maps neighboring numbers to different positions.
std::uint64_t place_in_stretch(std::uint64_t n, std::uint64_t length) noexcept {
    n = (n ^ (n >> 33)) * 0xff51afd7ed558ccdULL;
    n = (n ^ (n >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return (n ^ (n >> 33)) % length;
}

// Selects the sample from all pages, which are passed in order.
class Sampler {
  public:
    explicit Sampler(std::uint64_t stretch_pages) : stretch_pages_(stretch_pages) {
        chosen_ = place_in_stretch(0, stretch_pages_);
    }

    // Passes the next range, which has `pages` pages. Calls take(i) for each page i of the range
    // that belongs to the sample.
    template <class Take>
    void pass_range(std::uint64_t pages, Take&& take) {
        for (; chosen_ < passed_ + pages; choose_next()) take(chosen_ - passed_);
        passed_ += pages;
    }

  private:
    void choose_next() noexcept {
        ++stretch_;
        chosen_ = stretch_ * stretch_pages_ + place_in_stretch(stretch_, stretch_pages_);
    }

    const std::uint64_t stretch_pages_;
    std::uint64_t stretch_ = 0;
    std::uint64_t chosen_;  // page number, from the first page of the first range
    std::uint64_t passed_ = 0;
};

// Collects pages, queries many of them with one call, and counts the results.
class PageQuery {
  public:
    PageQuery(Os& os, Placement& result) : os_(os), result_(result) {}

    void add(void* page, PageKind kind, NodeId home) {
        pages_.push_back(page);
        about_.push_back({kind, home});
        if (pages_.size() == pages_per_query) run();
    }

    void run() {
        if (pages_.empty()) return;
        nodes_.resize(pages_.size());
        const Status status = os_.query_pages(pages_, nodes_);
        if (status == 0) {
            for (std::size_t i = 0; i < pages_.size(); ++i) count(about_[i], nodes_[i]);
        } else {
            result_.status = status;
        }
        pages_.clear();
        about_.clear();
    }

  private:
    struct About {
        PageKind kind;
        NodeId home;
    };

    void count(const About& about, int node) {
        PagePlacement& placement = result_.kinds[static_cast<std::size_t>(about.kind)];
        ++placement.queried;
        if (node < 0) return;
        ++placement.resident;
        const auto number = static_cast<std::size_t>(node);
        if (number >= placement.by_node.size()) placement.by_node.resize(number + 1);
        ++placement.by_node[number];
        if (index(about.home) < 0) return;
        Placement::ByHome& of_home = result_.homes[about.home];
        ++of_home.resident;
        if (index(about.home) == node) return;
        ++placement.misplaced;
        ++of_home.misplaced;
    }

    Os& os_;
    Placement& result_;
    std::vector<void*> pages_;
    std::vector<About> about_;  // about_[i] describes pages_[i]
    std::vector<int> nodes_;
};

}  // namespace

double PagePlacement::remote_share() const noexcept {
    return resident == 0 ? 0 : static_cast<double>(misplaced) / static_cast<double>(resident);
}

std::uint64_t PagePlacement::resident_bytes(NodeId node) const noexcept {
    const auto number = static_cast<std::size_t>(index(node));
    return number < by_node.size() ? scaled_bytes(by_node[number]) : 0;
}

std::uint64_t PagePlacement::scaled_bytes(std::uint64_t sampled_pages) const noexcept {
    if (queried == 0) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(sampled_pages) *
                                      static_cast<double>(pages) / static_cast<double>(queried) *
                                      static_cast<double>(page_bytes));
}

double Placement::remote_share() const noexcept {
    std::uint64_t resident = 0, misplaced = 0;
    for (const PagePlacement& kind : kinds) {
        resident += kind.resident;
        misplaced += kind.misplaced;
    }
    return resident == 0 ? 0 : static_cast<double>(misplaced) / static_cast<double>(resident);
}

std::uint64_t Placement::resident_bytes() const noexcept {
    std::uint64_t bytes = 0;
    for (const PagePlacement& kind : kinds) bytes += kind.resident_bytes();
    return bytes;
}

std::map<NodeId, HomeMemory> Placement::memory_by_home() const {
    std::uint64_t sampled = 0;
    for (const auto& [node, of_home] : homes) sampled += of_home.resident;
    std::map<NodeId, HomeMemory> memory;
    for (const auto& [node, of_home] : homes) {
        const auto resident = static_cast<double>(of_home.resident);
        memory[node] = {static_cast<std::uint64_t>(static_cast<double>(resident_bytes()) *
                                                   resident / static_cast<double>(sampled)),
                        static_cast<double>(of_home.misplaced) / resident};
    }
    return memory;
}

Placement probe_placement(Os& os, std::span<const PlacedGroup* const> groups,
                          std::size_t sample_pages_max) {
    Placement result;
    if (sample_pages_max == 0) return result;
    std::uint64_t pages = 0;
    for_each_page_range(groups, [&pages](const PlacedGroup&, const PageRange& range) {
        pages += range.bytes / page_bytes;
    });
    const std::uint64_t fit = pages / sample_pages_max + (pages % sample_pages_max != 0 ? 1 : 0);
    Sampler sampler(std::max<std::uint64_t>(1, fit));
    PageQuery query(os, result);
    for_each_page_range(groups, [&](const PlacedGroup& group, const PageRange& range) {
        result.kinds[static_cast<std::size_t>(range.kind)].pages += range.bytes / page_bytes;
        sampler.pass_range(range.bytes / page_bytes, [&](std::uint64_t page) {
            query.add(range.base + page * page_bytes, range.kind, group.home().node());
        });
    });
    query.run();
    return result;
}

}  // namespace nw
