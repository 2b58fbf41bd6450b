// SPDX-License-Identifier: Apache-2.0
#include "results/statistics/rank_results.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/packing.hpp"

namespace nw {
namespace {

// --- Packing of types that Packer does not support -----------------------------------------------

template <class Part, class T>
void pack(Part& part, T& value) {
    part(value);
}

template <class Part, class AnyPlacement>
void pack_placement(Part& part, AnyPlacement& placement) {
    part(placement.status);
    for (auto& kind : placement.kinds) {
        part(kind.pages);
        part(kind.queried);
        part(kind.resident);
        part(kind.misplaced);
        part(kind.by_node);
    }
}

void pack(Packer& part, const std::optional<Placement>& placement) {
    part(placement.has_value());
    if (placement) pack_placement(part, *placement);
}

void pack(Unpacker& part, std::optional<Placement>& placement) {
    bool placed = false;
    part(placed);
    if (placed) pack_placement(part, placement.emplace());
}

// --- Combining the values of two ranks -----------------------------------------------------------

template <class T>
void add(T& sum, const T& other) {
    sum += other;
}

void add(Placement& sum, const Placement& other) {
    for (std::size_t k = 0; k < page_kinds; ++k) {
        PagePlacement& into = sum.kinds[k];
        const PagePlacement& from = other.kinds[k];
        into.pages += from.pages;
        into.queried += from.queried;
        into.resident += from.resident;
        into.misplaced += from.misplaced;
        into.by_node.resize(std::max(into.by_node.size(), from.by_node.size()));
        for (std::size_t n = 0; n < from.by_node.size(); ++n) into.by_node[n] += from.by_node[n];
    }
    if (sum.status == 0) sum.status = other.status;
}

void add(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& other) {
    sum.resize(std::max(sum.size(), other.size()));
    for (std::size_t i = 0; i < other.size(); ++i) sum[i] += other[i];
}

void add(std::vector<RolledBackLp>& sum, const std::vector<RolledBackLp>& other) {
    for (const RolledBackLp& lp : other) keep_worst(sum, lp);
}

template <class T>
void add(std::optional<T>& sum, const std::optional<T>& other) {
    if (sum && other)
        add(*sum, *other);
    else if (other)
        sum = other;
}

// --- The visitors --------------------------------------------------------------------------------

// Packs the figures of this rank. The trace is not included: write_trace() sends it.
struct Send {
    Packer& part;

    void operator()(const auto&, combine::First, const auto&) {}
    void operator()(const auto&, auto, const auto& figure) { pack(part, figure); }
};

// Unpacks the figures of rank `rank` and combines them with the result.
struct Receive {
    Unpacker& part;
    std::uint32_t rank;

    void operator()(const auto&, combine::First, auto&) {}
    template <class T>
    void operator()(const auto&, combine::Sum, T& sum) {
        add(sum, next<T>());
    }
    template <class T>
    void operator()(const auto&, combine::SumOfAll, std::optional<T>& sum) {
        const auto other = next<std::optional<T>>();
        if (sum && other)
            *sum += *other;
        else
            sum.reset();
    }
    template <class T>
    void operator()(const auto&, combine::Most, T& most) {
        most = std::max(most, next<T>());
    }
    template <class T>
    void operator()(const auto&, combine::Append, std::vector<T>& rows) {
        const auto more = next<std::vector<T>>();
        rows.insert(rows.end(), more.begin(), more.end());
    }
    void operator()(const auto&, combine::Once, std::vector<std::string>& texts) {
        for (const std::string& text : next<std::vector<std::string>>())
            if (std::find(texts.begin(), texts.end(), text) == texts.end())
                texts.push_back(fmt::format("rank {}: {}", rank, text));
    }

    void operator()(const auto&, combine::Once, std::string& text) {
        const auto other = next<std::string>();
        if (other.empty() || other == text) return;
        text += fmt::format("{}rank {}: {}", text.empty() ? "" : "; ", rank, other);
    }

    template <class T>
    T next() {
        T other{};
        pack(part, other);
        return other;
    }
};

}  // namespace

void gather_results(RankGroup& ranks, RunResult& result) {
    if (ranks.ranks() == 1) {
        result.communication.clear();
        return;
    }
    for (WorkerReport& worker : result.workers) worker.rank = index(ranks.rank());
    if (!ranks.is_first()) {
        Packer part;
        visit_figures(Send{part}, result);
        ranks.send(RankId{0}, part.take());
        return;
    }
    for (std::uint32_t r = 1; r < ranks.ranks(); ++r) {
        const std::string bytes = ranks.receive(RankId{r});
        Unpacker part(bytes);
        visit_figures(Receive{part, r}, result);
    }
    NW_CHECK(result.messages_left == 0);  // all messages that were sent were received
}

}  // namespace nw
