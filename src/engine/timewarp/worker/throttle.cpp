// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/worker/throttle.hpp"

#include <cmath>

#include "gvt/gvt_rounds.hpp"
#include "plan/run_plan.hpp"
#include "util/check.hpp"

namespace nw {

void Throttle::on_gvt(const GvtResult& result, VirtualTime safe) noexcept {
    // The end of the window is strictly beyond GVT, also if rounding absorbs the window.
    const VirtualTime window =
        std::max(core_.gvt + result.window, std::nextafter(core_.gvt, time_infinity));
    horizon_ = std::min(core_.plan.until, std::max(window, safe));
    generations_ = result.generations;
    generation_limit_ = std::uint64_t{result.generation} + result.generations;
    quota_ = unlimited;
}

void Throttle::set_quota(std::uint32_t events) noexcept {
    quota_ = events;
    if (events == 0) stay_at_gvt_for_memory();
}

bool Throttle::stay_at_gvt() noexcept {
    const VirtualTime end = std::nextafter(core_.gvt, time_infinity);
    if (horizon_ <= end) return false;
    horizon_ = end;
    return true;
}

void Throttle::stay_at_gvt_for_memory() noexcept {
    quota_ = unlimited;
    if (stay_at_gvt()) ++core_.counters[Counter::memory_stops];
}

void Throttle::resume() noexcept {
    horizon_ = std::min(core_.plan.until, std::nextafter(core_.gvt, time_infinity));
}

// A stop is not counted if the horizon is the end of the run.
void Throttle::count_stop(bool is_beyond) noexcept {
    if (!is_beyond || horizon_ < core_.plan.until) ++core_.counters[Counter::window_stops];
}

void Throttle::validate() const { NW_CHECK(horizon_ <= core_.plan.until); }

}  // namespace nw
