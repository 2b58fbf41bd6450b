// SPDX-License-Identifier: Apache-2.0
#include <numawarp/kinds.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numawarp/model.hpp>

namespace nw {

void LpRange::refuse(std::uint32_t i) const {
    throw ModelError(
        count_ == 0
            ? fmt::format("there is no LP {} of this kind; the kind has no LPs", i)
            : fmt::format("there is no LP {} of this kind; allowed: 0 to {}", i, count_ - 1));
}

Kinds::Kinds(std::uint32_t count) : count_(count) {
    all_.push_back({.name = "LP", .count = count, .lps = LpRange(0, count)});
}

Kinds::Kinds(std::vector<Kind> all) : all_(std::move(all)), are_named_(true) {
    if (all_.empty() || all_.size() > kinds_max)
        throw SetupError(
            fmt::format("{} kinds of LPs; allowed: from 1 to {}", all_.size(), kinds_max));
    std::uint64_t count = 0;
    for (std::size_t k = 0; k < all_.size(); ++k) {
        Kind& kind = all_[k];
        if (kind.name.empty()) throw SetupError(fmt::format("kind {} of LPs: must have a name", k));
        if (std::any_of(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(k),
                        [&](const Kind& other) { return other.name == kind.name; }))
            throw SetupError(
                fmt::format("two kinds of LPs are named {}; allowed: distinct names", kind.name));
        kind.lps = LpRange(static_cast<std::uint32_t>(count), kind.count);
        count += kind.count;
    }
    if (count > UINT32_MAX)
        throw SetupError(
            fmt::format("{} LPs in all kinds; allowed: at most {}", count, UINT32_MAX));
    count_ = static_cast<std::uint32_t>(count);
}

Kinds Kinds::of(const Setup& setup) {
    Kinds kinds = setup.lps;
    if (kinds.are_named_) return kinds;
    kinds.all_.front().process = setup.process;
    kinds.all_.front().preferred_rollback = setup.preferred_rollback;
    return kinds;
}

const LpRange& Kinds::range(std::string_view kind) const {
    for (const Kind& one : all_)
        if (one.name == kind) return one.lps;
    std::vector<std::string_view> names;
    for (const Kind& one : all_) names.push_back(one.name);
    throw ModelError(
        fmt::format("there is no kind of LPs named {}; allowed: {}", kind, fmt::join(names, ", ")));
}

const Kind& Kinds::kind_of(LpId lp) const {
    for (const Kind& one : all_)
        if (one.lps.contains(lp)) return one;
    throw ModelError(fmt::format("there is no LP {}; allowed: below {}", index(lp), count_));
}

std::string Kinds::name(LpId lp) const {
    if (index(lp) >= count_) return fmt::format("LP {}", index(lp));
    const Kind& kind = kind_of(lp);
    return fmt::format("{} {}", kind.name, kind.lps.index_of(lp));
}

}  // namespace nw
