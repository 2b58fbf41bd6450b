// Which figures of LPs (figures.hpp) are to be one figure of the run, and what it is called:
//
//     setup.measures = {nw::measure("wait", &Bank::waited),
//                       nw::measure("lost", [](const Bank& bank) -> auto& { return bank.door.lost; })};
//
// They are shown at the end, and stand in the statistics and in the table `measures` of --output: equal to
// the bit on every engine, for any number of workers and ranks.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <numawarp/figures.hpp>
#include <numawarp/logical_process.hpp>

namespace nw {

// A figure of the run, made of one figure of each LP.
struct Measure {
    std::string name;  // by which it is shown; each once
    // Looks at the figure of an LP at the end of the run; false: it is an LP of another class. Allocates
    // nothing.
    std::function<bool(const LogicalProcess&, VirtualTime end, detail::FigureView&)> look;
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

// Of a member of the LP class, which is an nw::Tally, nw::TimeAverage, nw::Histogram or nw::Count.
template <class Figure, class Lp>
Measure measure(std::string name, Figure Lp::*member) {
    return detail::measure_of<Lp>(std::move(name), member);
}
// Of what a function of the LP returns a reference to. The function is a lambda whose parameter says the class.
template <class Function>
Measure measure(std::string name, Function of) {
    return detail::measure_of<typename detail::ArgumentOf<decltype(&Function::operator())>::type>(
        std::move(name), of);
}

}  // namespace nw
