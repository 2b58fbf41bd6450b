// SPDX-License-Identifier: Apache-2.0
// A measure has a name and combines figures of LPs (figures.hpp) into one figure of the run:
//
//     setup.measures = {nw::measure("wait", &Bank::waited),
//                       nw::measure("lost", [](const Bank& b) -> auto& { return b.door.lost; })};
//
// The measures are part of the report, of the statistics and of the table `measures` of --output.
// Their values are equal to the last bit on every engine and for any number of workers and ranks.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <numawarp/figures.hpp>
#include <numawarp/logical_process.hpp>

namespace nw {

// A figure of the run, combined from one figure of each LP.
struct Measure {
    std::string name;  // name in the report; must be unique
    // Reads the figure of an LP at time `end`, which is the end of the run or of an interval.
    // Returns false if the LP is of a class without this figure. The function does not allocate
    // memory.
    std::function<bool(const LogicalProcess&, VirtualTime end, detail::FigureView&)> sample;
};

namespace detail {
template <class Lp, class Of>
Measure measure_of(std::string name, Of of) {
    return {std::move(name),
            [of](const LogicalProcess& process, VirtualTime end, FigureView& view) {
                const auto* const lp = dynamic_cast<const Lp*>(&process);
                if (lp != nullptr) view = std::invoke(of, *lp).view(end);
                return lp != nullptr;
            }};
}
template <class Function>
struct ArgumentOf;
template <class Function, class Figure, class Lp>
struct ArgumentOf<const Figure& (Function::*)(const Lp&) const> {
    using type = Lp;
};
}  // namespace detail

// A measure of a member of the LP class. The member is an nw::BasicTally (for example nw::Tally),
// nw::TimeAverage, nw::Histogram or nw::Count.
template <class Figure, class Lp>
Measure measure(std::string name, Figure Lp::*member) {
    return detail::measure_of<Lp>(std::move(name), member);
}
// A measure of a figure to which `of` returns a reference. `of` is a lambda with one parameter
// `const Lp&`, where Lp is the LP class.
template <class Function>
Measure measure(std::string name, Function of) {
    return detail::measure_of<typename detail::ArgumentOf<decltype(&Function::operator())>::type>(
        std::move(name), of);
}

}  // namespace nw
