// What the descriptions of figures are made of (stats/run_result.hpp), beside FigureInfo.
#pragma once

#include <string>

#include "base/counters.hpp"

namespace nw {

// What becomes of a figure of which several workers or ranks have one. Types, so that a visitor has an
// overload for each.
namespace combine {
struct First {};     // equal everywhere, or of interest on the first rank only
struct Sum {};       // by +=
struct SumOfAll {};  // the same, but missing if one has none
struct Most {};      // the largest
struct Append {};    // one rank's rows behind those of the rank before
struct Once {};      // texts: what all ranks say stands there once
}  // namespace combine

// In the place of FigureInfo: of no interest but for what ranks tell each other.
struct Unlisted {};

// As the statistics' page calls it: "mpi.bytes_sent".
inline std::string full_name(const FigureInfo& info) {
    std::string name(info.section);
    if (!name.empty()) name += '.';
    return name += info.name;
}

// A figure of several numbers, with their names: value.visit(member) calls member(name, number) for each.
template <class T>
concept has_members = requires(const T& value) {
    value.visit([](const char*, const auto&) {});
};

}  // namespace nw
