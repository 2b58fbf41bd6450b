// SPDX-License-Identifier: Apache-2.0
// Priorities of events. The linker includes this file only if the model calls
// tw_event_new_user_prio().
#include <cmath>

#include <fmt/format.h>

#include "program_state.hpp"

namespace nw::ross {
namespace {

[[maybe_unused]] const bool is_linked = (uses_priorities = true);

}  // namespace
}  // namespace nw::ross

tw_event* tw_event_new_user_prio(tw_lpid dest_gid, tw_stime offset_ts, tw_lp* sender,
                                 tw_stime prio) {
    using nw::ross::priority_without;
    constexpr double rounding = 1e-6;
    const double place = std::nearbyint(prio * priority_without);
    if (!(place >= 0 && place <= priority_without &&
          std::abs(prio * priority_without - place) < rounding))
        nw::ross::refuse(
            fmt::format("tw_event_new_user_prio(): priority {}; allowed: from 0 to 1, with at most "
                        "four digits after the decimal point",
                        prio));
    tw_event* const event = tw_event_new(dest_gid, offset_ts, sender);
    event->numawarp_ahead = priority_without - static_cast<unsigned>(place);
    return event;
}
