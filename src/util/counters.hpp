// SPDX-License-Identifier: Apache-2.0
// The only table of counters. Each row contains name, unit, section of the statistics and meaning.
// The text report, the JSON of --stats and docs/reference are generated from it.
//
// Each worker has its own Counters object, which only that worker writes. The objects are added up
// at GVT rounds and at the end. A `peak` row is a maximum over time; the maxima of the workers are
// added up, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nw {

// clang-format off
#define NW_COUNTERS(ROW)                                                                           \
    ROW(committed_events,   "events",     "",       "events below the final GVT: the result")      \
    ROW(executed_events,    "events",     "",       "forward executions of event handlers, including those undone later") \
    ROW(safe_events,        "events",     "",       "committed events that nothing could undo when they were executed, so that no undo data was kept") \
    ROW(rolled_back_events, "events",     "",       "executed events that were undone")            \
    ROW(coasted_events,     "events",     "",       "events executed again without sending (coast forward), to rebuild a state from a saved one") \
    ROW(rollbacks,          "rollbacks",  "",       "rollbacks of an LP")                          \
    ROW(stragglers,         "events",     "",       "events that arrived in the past of their LP") \
    ROW(forced_rollbacks,   "rollbacks",  "",       "rollbacks made by --check-rollback")          \
    ROW(anti_messages,      "messages",   "",       "sent events that were canceled")              \
    ROW(saved_states,       "states",     "",       "LP states saved for rollback")                \
    ROW(failed_speculations,"events",     "",       "handler calls that threw or crashed and were rolled back later") \
    ROW(interrupted_handlers,"events",    "",       "handler calls that ran long ahead of GVT, were interrupted, and were repeated when GVT reached them") \
    ROW(gvt_rounds,         "rounds",     "",       "completed GVT computations")                  \
    ROW(idle_turns,         "turns",      "",       "worker turns without work")                   \
    ROW(carried_turns,      "turns",      "",       "worker turns taken by another worker's thread, because there are more workers than CPUs") \
    ROW(window_stops,       "turns",      "",       "worker turns that ended at the limit of the window, in time or in generations") \
    ROW(memory_stops,       "rounds",     "memory", "GVT rounds in which a worker was held back near --memory-cap") \
    ROW(events_crossed,     "events",     "",       "events and anti-messages passed between workers of one rank") \
    ROW(events_sent,        "events",     "mpi",    "events and anti-messages sent to other ranks") \
    ROW(batches_sent,       "batches",    "mpi",    "batches sent to other ranks")                 \
    ROW(bytes_sent,         "bytes",      "mpi",    "bytes sent to other ranks")                   \
    ROW(groups_sent,        "groups",     "mpi",    "LP groups that rebinding moved to another rank") \
    ROW(credit_stops,       "rounds",     "mpi",    "GVT rounds in which a worker had used up its credit for messages to other ranks and ran no further ahead") \
    ROW(saved_states_bytes_peak,"bytes",   "memory", "largest number of bytes in saved states, without those in the log") \
    ROW(mail_spilled_bytes, "bytes",      "memory", "libc memory used for mail that did not fit into the slot of its group") \
    ROW(groups_moved,       "groups",     "numa",   "LP groups handed to another worker by rebinding") \
    ROW(rebindings,         "rebindings", "numa",   "rebindings that moved at least one group")    \
    ROW(output_rows,        "rows",       "",       "rows of committed output")
// clang-format on

enum class Counter : std::size_t {
#define ROW(name, unit, section, meaning) name,
    NW_COUNTERS(ROW)
#undef ROW
};

// The description of a figure of the statistics: a counter, or another figure.
struct FigureInfo {
    std::string_view name;
    std::string_view unit;
    std::string_view section;  // of the JSON object; empty: top level
    std::string_view meaning;
};

inline constexpr FigureInfo counter_table[] = {
#define ROW(name, unit, section, meaning) {#name, unit, section, meaning},
    NW_COUNTERS(ROW)
#undef ROW
};
inline constexpr std::size_t counter_count = std::size(counter_table);

class Counters {
  public:
    std::uint64_t& operator[](Counter c) noexcept { return values_[static_cast<std::size_t>(c)]; }
    std::uint64_t operator[](Counter c) const noexcept {
        return values_[static_cast<std::size_t>(c)];
    }
    void add(const Counters& other) noexcept {
        for (std::size_t i = 0; i < counter_count; ++i) values_[i] += other.values_[i];
    }

  private:
    std::array<std::uint64_t, counter_count> values_{};
};

}  // namespace nw
