// What the two sides of --check-model have in common, and what one event has that another has not, in words.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/time.hpp>

#include "checked/checked_run.hpp"
#include "lp/lp_kinds.hpp"

namespace nw {

// Set for a process that is one of the runs: as JSON what it shall do.
inline constexpr const char* check_run_variable = "NUMAWARP_CHECK_MODEL_RUN";

// A log as it was written, in the order of events.
class EventLog {
  public:
    EventLog() = default;
    EventLog(EventLog&&) = default;
    EventLog& operator=(EventLog&&) = default;
    // Events before `until`.
    EventLog(std::vector<char> bytes, VirtualTime until);

    struct Entry {
        LoggedEvent event;
        std::string_view payload;
    };
    const std::vector<Entry>& entries() const noexcept { return entries_; }

  private:
    std::vector<char> bytes_;  // where the payloads stand, also when it is moved
    std::vector<Entry> entries_;
};

// The first event in which they differ.
struct LogDifference {
    bool is_in_payload = false;  // and in nothing else
    std::string words;
};
std::optional<LogDifference> first_difference(const EventLog& one, const EventLog& other,
                                              const LpKinds& kinds);

}  // namespace nw
