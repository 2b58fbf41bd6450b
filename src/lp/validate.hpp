// What must hold of an LP between two changes, in whatever state it is: its record, its history, its
// saved states. For the paranoid preset (base/paranoid.hpp) and for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "event/event_key.hpp"
#include "lp/state_keeping.hpp"

namespace nw {

// What is known of the LP from outside.
struct LpExpectations {
    const std::vector<StateKeepingRules>& keeping;  // by kind
    std::uint32_t payload_bytes_max = 0;
    VirtualTime gvt = 0;
    VirtualTime safe_before = 0;  // events before it may have left no entry
    // Events before it are irrevocable: what they sent may be freed already.
    EventKey final_before{};
    // Chains of rollbacks are being worked off: events in histories may be marked as cancelled.
    bool is_cancelling = false;
};

// All throw InternalError. The record itself, and its saved states. Cost: by the saved states.
void validate_record(const LpRecord& lp, const LpExpectations& expected);

// Entries from `first` on, with what they sent. Requires: a valid record, first in [head, tail].
void validate_entries(const LpRecord& lp, History::Ordinal first, const LpExpectations& expected);

// The record and the newest entries: for after each change.
void validate_newest(const LpRecord& lp, const LpExpectations& expected);

// Everything, with the LP's heap. Returns about how many things it has looked at.
std::uint64_t validate_whole(const LpRecord& lp, const LpExpectations& expected);

}  // namespace nw
