// SPDX-License-Identifier: Apache-2.0
// The content of a saved run except the memory of its groups. From this content, a process
// determines whether it can continue the run. RunSaver collects the content; SavedRunFolder writes
// and reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "api/event_key.hpp"
#include "numa/os/modules.hpp"
#include "plan/partition.hpp"
#include "plan/save_options.hpp"
#include "results/measures/interval_sums.hpp"
#include "results/output/csv_tables.hpp"
#include "results/statistics/run_history.hpp"
#include "util/counters.hpp"
#include "util/file/section_file.hpp"

namespace nw {

// The progress of all workers of a saved run, except the data in the LPs' memory.
struct SavedProgress {
    VirtualTime gvt = 0;  // all events before gvt are final; no other event has been executed
    EventKey end_key{-1.0, 0, 0, 0};
    VirtualTime last_committed_time = 0;
    Counters totals;
    double wall_seconds = 0;

    void combine(const SavedProgress& other) noexcept;
};

// The file and the section that contain a group's memory.
struct SavedGroup {
    std::uint32_t group = 0;
    std::uint32_t file = 0;
    Section section;
};

// The file and the section that contain a track of --trace. The section contains the spans of the
// track as they are in memory.
struct SavedTrack {
    std::uint32_t rank = 0;
    std::string name;
    std::int64_t end_ns = 0;  // end of the last span, in the time of the whole run
    std::uint32_t file = 0;
    Section section;
};

template <class Part, class Tracks>
void pack_tracks(Part& part, Tracks& tracks) {
    part.each(tracks, [&](auto& track) {
        part(track.rank);
        part(track.name);
        part(track.end_ns);
        part(track.file);
        part(track.section);
    });
}

// Words that point out of LPs' heaps and were not stored by constructors (outside_pointers.hpp).
struct StrayPointers {
    std::uint64_t to_program = 0;
    std::vector<std::uint64_t> to_module;  // into each library, by its index in SavedRun::modules
    std::uint64_t elsewhere = 0;
    std::string example;  // the first of the pointers to elsewhere
    std::uint32_t example_lp = 0;

    void combine(const StrayPointers& other);
};

struct SavedRun {
    RunIdentity identity;
    SavedProgress progress;
    OutputPosition output;
    SavedHistory history;
    std::vector<RunPiece> pieces;
    SavedPartition partition;
    // Addresses that must be the same at the restart.
    std::uint64_t region_base = 0;
    std::uint64_t slot_bytes = 0;
    std::uint64_t program_shift = 0;  // must be the same only if stray.to_program > 0
    StrayPointers stray;
    // Libraries. If LPs point into a library, it must have the same address at the restart. `begin`
    // is 0 if LPs point into the library and ranks had it at different addresses.
    std::vector<LoadedModule> modules;
    std::vector<std::string> files;  // in the saved run's folder
    std::vector<SavedGroup> groups;  // by number
    std::vector<SavedTrack> tracks;  // empty: the run was saved without --trace
    IntervalSums intervals;

    // These members are not packed: the saved run's folder, the checksum of the packed bytes, and
    // the time at which the run ended. This time exists only if the run ended after it was saved.
    std::string folder;
    std::string checksum;
    std::optional<VirtualTime> over_at;
};

std::string pack(const SavedRun& run);
// Throws DamagedBytes, also if an index is beyond the end of a table or a file name leads out of
// the folder.
SavedRun unpack_saved_run(const std::string& bytes);

}  // namespace nw
