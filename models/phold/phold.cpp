// SPDX-License-Identifier: Apache-2.0
#include "phold.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace phold {

namespace {

// --rollback copy needs the state's size at compile time, so there is one class for each size.
constexpr std::uint32_t state_sizes[] = {0, 8, 16, 64, 256, 1024, 2048, 4096, 1 << 20};

template <bool WithHotSpot, std::size_t... Index>
nw::ProcessFactory process_of_size(std::uint32_t state_bytes, const Parameters* parameters,
                                   std::index_sequence<Index...>) {
    nw::ProcessFactory found;
    static_cast<void>(
        ((state_sizes[Index] == state_bytes &&
          (found = nw::process<Process<state_sizes[Index], WithHotSpot>>(parameters), true)) ||
         ...));
    return found;
}

}  // namespace

void Model::options(nw::Options& options) {
    const nw::Range share = nw::from(0).to(1);
    options.add("lps", parameters_.lps, "logical processes", nw::from(1));
    options.add("events-per-lp", parameters_.events_per_lp, "events that each LP starts with",
                nw::from(1));
    options.add("remote", parameters_.remote,
                "probability that an event goes to an LP chosen at random from all", share);
    options.add("lookahead", parameters_.lookahead, "constant part of the delay", nw::from(0));
    options.add("mean", parameters_.mean, "mean of the exponential part of the delay", nw::from(0));
    options.add("payload", parameters_.payload_bytes, "bytes that each event carries",
                nw::from(0).to(payload_bytes_max));
    options.add_choice("state", state_bytes_, {std::begin(state_sizes), std::end(state_sizes)},
                       "bytes of state in each LP");
    options.add("touch", touch_bytes_,
                "bytes of the state that each event changes, a multiple of 8; a smaller state "
                "changes completely");
    options.add("work", parameters_.work,
                "dependent multiplications in each event, about a nanosecond each");
    options.add("hot-spot", parameters_.hot_share,
                "share of the events that go to a moving window of LPs; 0: no window", share);
    options.add("hot-spot-lps", hot_lps_, "share of the LPs that are in the window",
                nw::above(0).below(1));
    options.add("hot-spot-period", hot_period_,
                "virtual time in which the window moves once around all LPs", nw::above(0));
}

void Model::set_up_hot_spot() {
    Parameters& p = parameters_;
    if (p.hot_share == 0) return;
    nw::require(p.lps >= 2, "hot-spot", p.hot_share, "must be 0 if there is only one LP");
    const double width = std::round(hot_lps_ * p.lps);
    p.hot_spot = HotSpot(p.lps, static_cast<std::uint32_t>(std::clamp(width, 1.0, p.lps - 1.0)),
                         hot_period_);
}

nw::Setup Model::setup() {
    Parameters& p = parameters_;
    nw::require(p.lookahead + p.mean > 0, "mean", p.mean,
                "must be above 0 if --lookahead is 0, so that time advances");
    nw::require(touch_bytes_ % sizeof(std::uint64_t) == 0, "touch", touch_bytes_,
                "must be a multiple of 8");
    p.touched_words = std::min(touch_bytes_, state_bytes_) / sizeof(std::uint64_t);

    set_up_hot_spot();

    nw::Setup setup;
    setup.lps = p.lps;
    setup.until = 5000;
    setup.lookahead = p.lookahead;
    setup.payload_bytes_max = p.payload_bytes;
    const auto sizes = std::make_index_sequence<std::size(state_sizes)>{};
    setup.process = p.hot_share > 0 ? process_of_size<true>(state_bytes_, &p, sizes)
                                    : process_of_size<false>(state_bytes_, &p, sizes);
    setup.preferred_rollback = nw::Rollback::copy;
    return setup;
}

}  // namespace phold
