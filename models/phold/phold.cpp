#include "phold.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace phold {

namespace {

// --rollback copy needs the state's size at compile time, so there is one class for each of these.
constexpr std::size_t state_sizes[] = {0, 8, 16, 64, 256, 1024, 2048, 4096};

template <bool WithHotSpot, std::size_t... Index>
nw::ProcessFactory process_of_size(std::uint32_t state_bytes, const Parameters* parameters,
                                   std::index_sequence<Index...>) {
    nw::ProcessFactory found;
    static_cast<void>(
        ((state_sizes[Index] == state_bytes &&
          (found = nw::process<Process<state_sizes[Index], WithHotSpot>>(parameters), true)) ||
         ...));
    if (!found.build) {
        std::string legal;
        for (std::size_t size : state_sizes)
            legal += (legal.empty() ? "" : ", ") + std::to_string(size);
        throw nw::SetupError("--state " + std::to_string(state_bytes) + ": must be one of " +
                             legal);
    }
    return found;
}

template <class Value>
void require(bool legal, const char* option, Value value, const char* what_is_legal) {
    if (!legal) throw nw::SetupError(fmt::format("--{} {}: {}", option, value, what_is_legal));
}

}  // namespace

void Model::options(nw::Options& options) {
    options.add("lps", parameters_.lps, "logical processes");
    options.add("events-per-lp", parameters_.events_per_lp, "events that each LP starts with");
    options.add("remote", parameters_.remote,
                "probability that an event goes to an LP drawn from all");
    options.add("lookahead", parameters_.lookahead, "constant part of the delay");
    options.add("mean", parameters_.mean, "mean of the exponential part of the delay");
    options.add("payload", parameters_.payload_bytes, "bytes that each event carries");
    options.add("state", state_bytes_,
                "bytes of state in each LP: 0, 8, 16, 64, 256, 1024, 2048 or 4096");
    options.add("touch", touch_bytes_,
                "bytes of the state that each event changes, or all of a smaller state");
    options.add("hot-spot", parameters_.hot_share,
                "share of the events that a wandering window of LPs takes; 0: no window");
    options.add("hot-spot-lps", hot_lps_, "share of the LPs that are in the window at a time");
    options.add("hot-spot-period", hot_period_,
                "virtual time in which the window goes once around all LPs");
}

void Model::set_up_hot_spot() {
    Parameters& p = parameters_;
    require(p.hot_share >= 0 && p.hot_share <= 1, "hot-spot", p.hot_share, "must be from 0 to 1");
    require(hot_lps_ > 0 && hot_lps_ < 1, "hot-spot-lps", hot_lps_, "must be above 0 and below 1");
    require(hot_period_ > 0, "hot-spot-period", hot_period_, "must be above 0");
    if (p.hot_share == 0) return;
    require(p.lps >= 2, "hot-spot", p.hot_share, "must be 0 where there is only one LP");
    const double width = std::round(hot_lps_ * p.lps);
    p.hot_spot = HotSpot(p.lps, static_cast<std::uint32_t>(std::clamp(width, 1.0, p.lps - 1.0)),
                         hot_period_);
}

nw::Setup Model::setup() {
    Parameters& p = parameters_;
    require(p.lps >= 1, "lps", p.lps, "must be at least 1");
    require(p.events_per_lp >= 1, "events-per-lp", p.events_per_lp, "must be at least 1");
    require(p.remote >= 0 && p.remote <= 1, "remote", p.remote, "must be from 0 to 1");
    require(p.lookahead >= 0, "lookahead", p.lookahead, "must be 0 or more");
    require(p.mean >= 0, "mean", p.mean, "must be 0 or more");
    require(p.lookahead + p.mean > 0, "mean", p.mean,
            "must be above 0 where --lookahead is 0, or time stands still");
    require(p.payload_bytes <= payload_bytes_max, "payload", p.payload_bytes,
            "must be a whole number from 0 to 4096");
    require(touch_bytes_ % sizeof(std::uint64_t) == 0, "touch", touch_bytes_,
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
