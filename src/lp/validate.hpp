// SPDX-License-Identifier: Apache-2.0
// Checks the invariants of an LP between two changes: its record, its history and its saved states.
// For the paranoid preset (util/paranoid.hpp) and for tests. All functions throw InternalError
// if an invariant is violated.
#pragma once

#include <cstdint>
#include <vector>

#include "api/event_key.hpp"
#include "lp/past_log.hpp"
#include "lp/state_keeping.hpp"

namespace nw {

// Facts about the run that the checks use.
struct LpExpectations {
    const std::vector<StateKeepingRules>& keeping;  // by kind
    std::uint32_t payload_bytes_max = 0;
    const PastLog* log = nullptr;  // of the worker; null: there is none
    VirtualTime gvt = 0;
    VirtualTime safe_before = 0;  // events before this time may have left no entry
    // Events before this key are irrevocable. The events that they sent may have been freed.
    EventKey final_before{};
    // True while chains of rollbacks are being processed. Events in histories may then be marked as
    // canceled.
    bool is_canceling = false;
};

// Checks the record and the saved states. Cost: proportional to the number of saved states.
void validate_record(const LpRecord& lp, const LpExpectations& expected);

// Checks the entries from `first` on, with the events that they sent. Requires: a valid record, and
// `first` in [head, tail].
void validate_entries(const LpRecord& lp, History::Ordinal first, const LpExpectations& expected);

// Checks the record and the newest entries. Fast enough for a call after each change.
void validate_newest(const LpRecord& lp, const LpExpectations& expected);

// Checks everything, including the LP's heap. Returns the approximate number of checked objects.
std::uint64_t validate_whole(const LpRecord& lp, const LpExpectations& expected);

}  // namespace nw
