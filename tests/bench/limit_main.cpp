// The yardstick alone, in the four sizes that the project quotes: medians of five.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "tests/bench/limit.hpp"

int main() {
    fmt::print("PHOLD without an engine, 10 % remote, 16 B of state, ns an event\n");
    for (const std::uint32_t lps : {1024U, 65536U}) {
        for (const std::uint32_t events_per_lp : {1U, 16U}) {
            nw::bench::Phold model;
            model.lps = lps;
            model.events_per_lp = events_per_lp;
            std::array<double, 5> runs;
            for (double& ns : runs) ns = nw::bench::limit_ns_per_event(model, 4'000'000);
            std::sort(runs.begin(), runs.end());
            fmt::print("{:>6} x {:<2} {:6.1f}   ({:.1f} to {:.1f})\n", lps, events_per_lp, runs[2],
                       runs.front(), runs.back());
        }
    }
}
