// SPDX-License-Identifier: Apache-2.0
#include "app/rank_agreement.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "util/exit_codes.hpp"

namespace nw {

namespace {

using nlohmann::json;

// Describes the first fact in which rank `rank` differs from rank 0.
std::string difference(const json& first, const json& other, std::size_t rank) {
    for (std::size_t i = 0; i < std::min(first.size(), other.size()); ++i) {
        if (first[i] == other[i]) continue;
        if (first[i][0] != other[i][0]) break;
        const auto name = first[i][0].get<std::string>();
        return fmt::format("rank {} has {} {}, but rank 0 has {}; must be the same on all ranks",
                           rank, name, other[i][1].get<std::string>(),
                           first[i][1].get<std::string>());
    }
    return fmt::format(
        "rank {} runs a different program than rank 0; must be the same on all ranks", rank);
}

}  // namespace

Agreement agree(RankGroup& ranks, int exit_code, const std::string& message,
                const SetupFacts& facts) {
    if (ranks.ranks() == 1) return {exit_code, message};
    const json own = {{"code", exit_code}, {"message", message}, {"facts", facts}};
    std::vector<json> all;
    for (const std::string& text :
         ranks.share(own.dump(-1, ' ', false, json::error_handler_t::replace)))
        all.push_back(json::parse(text));
    const auto failed = [](const json& rank) { return rank["code"] != 0; };
    const auto first_failed = std::find_if(all.begin(), all.end(), failed);
    if (first_failed != all.end()) {
        auto text = (*first_failed)["message"].get<std::string>();
        // A failure that all ranks have is not the failure of one rank: omit the rank's number.
        if (!std::all_of(all.begin(), all.end(), failed))
            text = fmt::format("rank {}: {}", first_failed - all.begin(), text);
        return {(*first_failed)["code"].get<int>(), text};
    }
    for (std::size_t r = 1; r < all.size(); ++r)
        if (all[r]["facts"] != all[0]["facts"])
            return {exit_wrong_setup, difference(all[0]["facts"], all[r]["facts"], r)};
    return {};
}

}  // namespace nw
