// SPDX-License-Identifier: Apache-2.0
#include <numawarp/measures.hpp>

#include <fmt/format.h>

#include <numawarp/errors.hpp>

namespace nw::detail {
namespace {

constinit VirtualTime warm_up = 0;

}  // namespace

constinit const VirtualTime& measured_from = warm_up;
void set_measured_from(VirtualTime time) noexcept { warm_up = time; }

void refuse_value(double value) {
    throw ModelError(fmt::format(
        "a figure of merit received {0}; allowed: a number from -{1} to {1}", value, figure_max));
}

void refuse_time(VirtualTime time, VirtualTime last) {
    throw ModelError(fmt::format(
        "a time average received time {} after time {}; allowed: times that do not decrease", time,
        last));
}

void refuse_bounds(double low, double high) {
    throw ModelError(
        fmt::format("a histogram has the bounds {} and {}; allowed: a first bound below the "
                    "second bound, and a difference of at most {}",
                    low, high, figure_max));
}

}  // namespace nw::detail
