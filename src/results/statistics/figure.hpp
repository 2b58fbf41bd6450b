// SPDX-License-Identifier: Apache-2.0
// Types that describe figures (results/statistics/run_result.hpp), in addition to FigureInfo.
#pragma once

#include <string>

#include "util/counters.hpp"

namespace nw {

// How the values of a figure from several workers or ranks are combined. These are types, so that a
// visitor can have one overload for each.
namespace combine {
struct First {};     // equal on all ranks, or only the first rank's value is shown
struct Sum {};       // added with +=
struct SumOfAll {};  // like Sum, but without a value if one rank has no value
struct Most {};      // the maximum
struct Append {};    // rows of the ranks, in the order of the ranks
struct Once {};      // texts; a text that several ranks have is kept once
}  // namespace combine

// Used instead of FigureInfo for a figure that ranks only exchange; it is not listed anywhere.
struct Unlisted {};

// The name in the reference page of the statistics, as in "mpi.bytes_sent".
inline std::string full_name(const FigureInfo& info) {
    std::string name(info.section);
    if (!name.empty()) name += '.';
    return name += info.name;
}

// A figure that consists of several named numbers: value.visit(member) calls member(name, number)
// for each of them.
template <class T>
concept has_members = requires(const T& value) {
    value.visit([](const char*, const auto&) {});
};

}  // namespace nw
