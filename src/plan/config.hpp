// SPDX-License-Identifier: Apache-2.0
// The user's choices on the command line, in the form that the engine needs.
// src/app/options/option_table.cpp fills in and checks the values. For some fields, 0 or nullopt
// means that the engine chooses the value. The comments of these fields state this.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <numawarp/model.hpp>

#include "numa/place/memory_options.hpp"
#include "plan/save_options.hpp"

namespace nw {

class CheckedRun;

// automatic: conservative or timewarp, chosen by trials (plan/engine_trial.hpp).
enum class EngineKind : std::uint8_t { timewarp, sequential, conservative, automatic };
// How rebinding assigns groups to workers (engine/timewarp/rank/rebind_plans.hpp).
enum class RebindPolicy : std::uint8_t { least_moves, knapsack, root_sim };
enum class WindowMode : std::uint8_t { automatic, fixed, off };

// With this value, the data that a worker uses between two rounds stay in its core's second-level
// cache (docs/decisions/0023).
inline constexpr std::uint32_t default_gvt_interval_events = 500;

// The trial of EngineKind::automatic.
struct TrialOptions {
    double seconds = 0.2;  // wall time with each engine
    // The share of the time for which workers of the conservative engine wait. If the share is
    // larger, Time Warp is tried.
    double share_waited_max = 0.01;
    bool alternates = false;  // for tests: the engine changes after each trial time
};

struct Config {
    EngineKind engine = EngineKind::automatic;
    TrialOptions trial;
    // With EngineKind::automatic: why an option excludes the conservative engine; empty: no option
    // excludes it.
    std::string needs_timewarp;
    std::uint32_t workers = 0;         // 0: one per core that this rank may use
    std::optional<VirtualTime> until;  // nullopt: the model's end time
    VirtualTime warm_up = 0;           // virtual time at which recording of measures begins
    VirtualTime measure_interval = 0;  // of measures, in virtual time; 0: no intervals
    std::uint64_t seed = 1;
    std::optional<Rollback> rollback;         // nullopt: the model's preference
    std::uint32_t state_saving_interval = 0;  // in events of an LP; 0: adaptive
    // A GVT round begins after this time, or when a worker has executed this number of events since
    // the worker's last cut, whichever comes first. 0 events: only the time counts. 1e9 ms: only
    // the events count.
    double gvt_interval_ms = 1.0;
    std::uint32_t gvt_interval_events = default_gvt_interval_events;
    WindowMode window_mode = WindowMode::automatic;
    VirtualTime window = time_infinity;  // only with WindowMode::fixed; > 0
    std::uint32_t lps_per_group = 0;     // 0: the engine decides
    MemoryMode memory = MemoryMode::numa;
    bool libc_built_by_owners = false;  // with MemoryMode::libc, each worker builds its own groups
    bool pin = true;
    HugePages huge_pages = HugePages::automatic;
    std::uint64_t memory_cap_bytes = 0;  // 0: 80 % of the free memory
    bool protect_shared = true;          // memory of setup() is read-only while handlers run
    bool check_heap = false;             // guards around every block of an LP
    std::string output_directory;        // empty: no output
    double check_rollback = 0;           // share of events, in [0, 1]
    const PlacementChoice* place = &local_placement;
    // File with the bandwidths between nodes; empty: they are measured, or read from the firmware.
    std::string machine_file;
    // With weighted placement, the weights assign some pages to nodes without workers. This share
    // of these pages, in [0, 1], is put on nodes with workers instead. nullopt: the best share is
    // searched during the run.
    std::optional<double> proximity;
    PagemigdOptions pagemigd;
    double rebind_seconds = 2;  // between two measurements of group loads; 0: off
    RebindPolicy rebind_policy = RebindPolicy::least_moves;
    bool rebind_ranks = true;            // also between ranks
    bool net_thread = false;             // a dedicated thread moves messages between ranks
    bool trace = false;                  // record the activities of each thread
    bool hardware_counters = false;      // count cache misses and instructions of event loops
    double watchdog_seconds = 10;        // until a delay is reported; 0: no watchdog
    double handler_timeout_seconds = 0;  // limit for an irrevocable handler; 0: none
    SaveOptions save;                    // checkpoints of the whole run
    std::shared_ptr<const SavedRun> restart_from;  // null: from the beginning
    bool keep_safe_events = false;                 // keep undo data for safe events, too
    std::uint64_t past_log_bytes = 0;              // least capacity of a worker's PastLog; 0: small
    // Share of events that are deferred as if their handlers had run for a long time, in [0, 1].
    double check_interrupt = 0;
    // Share of groups that each rebinding moves at random, in [0, 1].
    double check_rebind = 0;
    // Not null: this run is one of the runs of --check-model.
    CheckedRun* checked = nullptr;
};

// Whether Time Warp executes the run or may execute a part of it.
inline bool may_be_timewarp(const Config& config) noexcept {
    return config.engine == EngineKind::timewarp || config.engine == EngineKind::automatic;
}

// Returns off if the placement may spread pages over nodes, unless the user has chosen a value.
inline HugePages huge_pages_of(const Config& config) noexcept {
    const bool is_free = config.huge_pages == HugePages::automatic;
    return is_free && config.place->spreads_pages ? HugePages::off : config.huge_pages;
}

}  // namespace nw
