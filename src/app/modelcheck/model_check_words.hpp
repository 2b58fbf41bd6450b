// SPDX-License-Identifier: Apache-2.0
// Declarations for the two sides of --check-model: the process that compares runs, and the
// processes that execute them. Also describes the first difference between the event logs of two
// runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/time.hpp>

#include "api/lp_kinds.hpp"
#include "engine/checked/checked_run.hpp"

namespace nw {

// Name of the environment variable that is set in a process that executes one of the runs. Its
// value describes the run as JSON.
inline constexpr const char* check_run_variable = "NUMAWARP_CHECK_MODEL_RUN";

// The events that a run has logged, in the order of events.
class EventLog {
  public:
    EventLog() = default;
    EventLog(EventLog&&) = default;
    EventLog& operator=(EventLog&&) = default;
    // Keeps only events before `until`.
    EventLog(std::vector<char> bytes, VirtualTime until);

    struct Entry {
        LoggedEvent event;
        std::string_view payload;
    };
    const std::vector<Entry>& entries() const noexcept { return entries_; }

  private:
    std::vector<char> bytes_;  // contains the payloads; its buffer survives a move
    std::vector<Entry> entries_;
};

// The first event in which two logs differ.
struct LogDifference {
    bool is_in_payload = false;  // only bytes of the payload differ
    std::string words;
};
std::optional<LogDifference> first_difference(const EventLog& one, const EventLog& other,
                                              const LpKinds& kinds);

}  // namespace nw
