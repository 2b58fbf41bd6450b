// What the user chose on the command line, as the engine needs it. Filled and checked by
// src/options/option_table.cpp; 0 or nullopt means "the engine decides" where the comment says so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <numawarp/model.hpp>

#include "numa/region/memory_options.hpp"
#include "plan/save_options.hpp"

namespace nw {

class CheckedRun;

enum class EngineKind : std::uint8_t { timewarp, sequential, conservative };
enum class WindowMode : std::uint8_t { automatic, fixed, off };

// What lies between two rounds stays in a core's second-level cache (docs/decisions/0023).
inline constexpr std::uint32_t default_gvt_interval_events = 500;

struct Config {
    EngineKind engine = EngineKind::timewarp;
    std::uint32_t workers = 0;         // 0: one a core that this rank may use
    std::optional<VirtualTime> until;  // nullopt: the model's
    VirtualTime warm_up = 0;           // figures of merit begin then
    VirtualTime measure_interval = 0;  // of figures of merit; 0: there are none
    std::uint64_t seed = 1;
    std::optional<Rollback> rollback;         // nullopt: what the model prefers
    std::uint32_t state_saving_interval = 0;  // events of an LP; 0: adaptive
    // Between two computations of GVT: so long, or so many events of a worker since its last cut,
    // whichever comes first. No events: the clock alone; a time that does not pass: the events alone.
    double gvt_interval_ms = 1.0;
    std::uint32_t gvt_interval_events = default_gvt_interval_events;
    WindowMode window_mode = WindowMode::automatic;
    VirtualTime window = time_infinity;  // with WindowMode::fixed, > 0
    std::uint32_t lps_per_group = 0;     // 0: the engine decides
    MemoryMode memory = MemoryMode::numa;
    bool pin = true;
    HugePages huge_pages = HugePages::automatic;
    std::uint64_t memory_cap_bytes = 0;  // 0: 80 % of what is free
    bool protect_shared = true;          // what setup() made is read-only while handlers run
    bool check_heap = false;             // guards around every block of an LP
    std::string output_directory;        // empty: no output
    double check_rollback = 0;           // share of events, in [0, 1]
    PlaceMode place = PlaceMode::local;
    std::string machine_file;  // bandwidths between nodes; empty: as measured, or as firmware says
    std::optional<double> proximity;  // of weighted pages to workers, in [0, 1]; nullopt: searched
    PagemigdOptions pagemigd;
    double rebind_seconds = 2;           // between two looks at the loads of groups; 0: off
    bool rebind_ranks = true;            // also over ranks
    bool net_thread = false;             // a thread of its own moves what goes between ranks
    bool trace = false;                  // gather what each thread does when
    bool hardware_counters = false;      // count misses and instructions of each event loop
    double watchdog_seconds = 10;        // of patience with a GVT round; 0: no end of it
    double handler_timeout_seconds = 0;  // a certain handler may take; 0: any time
    SaveOptions save;                    // of the whole run
    std::shared_ptr<const SavedRun> restart_from;  // null: from the beginning
    bool keep_safe_events = false;                 // as if they could be undone
    double check_interrupt = 0;     // share of events put aside as if their handlers had run long
    double check_rebind = 0;        // share of groups moved at random at every such look, in [0, 1]
    CheckedRun* checked = nullptr;  // one of the runs of --check-model
};

// Pages that are spread over nodes, or may come to be, are small ones, unless the user wants it otherwise.
inline HugePages huge_pages_of(const Config& config) noexcept {
    const bool spread = config.place != PlaceMode::local && config.place != PlaceMode::asymsched;
    return spread && config.huge_pages == HugePages::automatic ? HugePages::off : config.huge_pages;
}

}  // namespace nw
