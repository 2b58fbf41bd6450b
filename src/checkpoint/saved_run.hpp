// What is known of a saved run besides the memory of its groups: enough to decide whether a process can
// go on with it, and to do so. Written by run_saver.hpp, found by saved_run_folder.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <numawarp/model.hpp>

#include "base/counters.hpp"
#include "event/event_key.hpp"
#include "file/section_file.hpp"
#include "measures/interval_sums.hpp"
#include "numa/os/modules.hpp"
#include "output/csv_tables.hpp"
#include "plan/partition.hpp"
#include "plan/save_options.hpp"
#include "stats/run_history.hpp"

namespace nw {

// What all workers of a saved run had done, but for what stands in LPs' memory.
struct SavedProgress {
    VirtualTime gvt = 0;  // every event before it is final, none from it on has been executed
    EventKey end_key{-1.0, 0, 0, 0};
    VirtualTime last_committed_time = 0;
    Counters totals;
    double wall_seconds = 0;

    void combine(const SavedProgress& other) noexcept;
};

// A group's memory, in which file and where.
struct SavedGroup {
    std::uint32_t group = 0;
    std::uint32_t file = 0;
    Section section;
};

// A track of --trace, in which file and where. The section is its spans as they lie in memory.
struct SavedTrack {
    std::uint32_t rank = 0;
    std::string name;
    std::int64_t end_ns = 0;  // of its last span, in the time of the whole run
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

// Pointers that lead out of LPs' heaps and were not put there by constructors: outside_pointers.hpp.
struct StrayPointers {
    std::uint64_t to_program = 0;
    std::vector<std::uint64_t> to_module;  // into each library, by its place in SavedRun::modules
    std::uint64_t elsewhere = 0;
    std::string example;  // of those that lead elsewhere: what was found, and in which LP
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
    // Addresses that must be what they were.
    std::uint64_t region_base = 0;
    std::uint64_t slot_bytes = 0;
    std::uint64_t program_shift = 0;  // only if stray.to_program > 0
    StrayPointers stray;
    // Where there are pointers into one, it must be where it was. At 0: ranks had it in several places.
    std::vector<LoadedModule> modules;
    std::vector<std::string> files;  // in the saved run's folder
    std::vector<SavedGroup> groups;  // by number
    std::vector<SavedTrack> tracks;  // none: it was saved without --trace
    IntervalSums intervals;

    // Not written: where it was found, the checksum of all that stands above, and where the run has ended, if it
    // has since.
    std::string folder;
    std::string checksum;
    std::optional<VirtualTime> over_at;
};

std::string pack(const SavedRun& run);
// Throws DamagedBytes, also where a number leads out of a table or a name leads out of the folder.
SavedRun unpack_saved_run(const std::string& bytes);

}  // namespace nw
