// SPDX-License-Identifier: Apache-2.0
// The dump of a group, in a saved run or on the way to another rank: the group's memory, its
// pending events, and the words in its LPs' heaps that point out of the region and that
// constructors have stored.
//
// The dump is written between two events, when the group has no history and no mail. LpRecords,
// heaps and the records of pending events are in the group's memory, which has the same addresses
// in the process that reads the dump. A short event has no record. The dump contains a copy of it,
// from which the reading process makes a record. Functions of the program, and objects that the
// model shares with its LPs, may have other addresses in that process. LPs get pointers to such
// functions and objects through the arguments of their constructors. Therefore the reading process
// constructs the LPs first, and then overwrites them with the dump. Some words in the dump still
// have the value that the constructor stored in the writing process. Each of these words gets the
// value that the constructor has stored there in the reading process. Pointers that handlers have
// stored cannot be distinguished from numbers and are not changed. Words that look like such
// pointers are counted; words that point into libraries are counted for each library.
//
// Thread: the group's owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/event_key.hpp"
#include "engine/checkpoint/saved_run.hpp"
#include "lp/group.hpp"
#include "memory/image/group_image.hpp"
#include "memory/image/outside_pointers.hpp"
#include "results/measures/interval_sums.hpp"
#include "util/file/section_file.hpp"

namespace nw {

class Partition;
class PendingSet;
struct PendingEntry;

// A worker's contribution to a saved run.
struct SavedPart {
    SavedProgress progress;
    StrayPointers stray;
    std::vector<std::uint64_t> modules_at;  // addresses of this rank's libraries
    std::vector<SavedGroup> groups;
    IntervalSums intervals;  // since this process began
};

// Stores in group.constructed the words that the LPs' constructors have stored and that point out
// of the region. Words that point into the program are stored only if the program is
// position-independent. Requires: the LPs were just built.
void note_constructed(Group& group, const AddressMap& map);

// Pending events by group. Records are in chains that use EventRecord::next_sent, so that saving
// takes no memory for records. Nothing else uses next_sent at this time: it links the events that
// one execution has sent, for a rollback, and all executions are final. For each short event,
// saving takes 8 bytes.
class PendingChains {
  public:
    // The entries of `pending` must not move in memory, nor change, while the chains are used.
    PendingChains(const PendingSet& pending, const Partition& partition);

    struct OfGroup {
        EventRecord* first = nullptr;
        std::size_t short_count = 0;
        std::vector<const PendingEntry*> short_events;
    };
    const OfGroup& of(std::uint32_t group) const noexcept { return of_group_[group]; }

  private:
    std::vector<OfGroup> of_group_;
};

// Writes the dump of the group. `pending` contains all events for the group's LPs. Requires:
// note_constructed() was called, no LP has a history, and no event is in flight to the group.
// Throws the exceptions of write().
StrayPointers write_group(const Group& group, const PendingChains& pending, const AddressMap& map,
                          const std::vector<LoadedModule>& modules, const WriteBytes& write);

// Replaces the LPs of `group`, which were just built, by a dump of write_group(). Returns the
// records of the pending events. Throws SetupError if the place of a word of group.constructed in
// the writing process is outside of the segments of `group` in this process; then the constructors
// have allocated other memory. Also throws the exceptions of read().
std::vector<EventRecord*> read_group(Group& group, const ReadBytes& read);

// Writes a worker's groups to `file`, one section for each group. `file_number`: the index of the
// file in SavedRun::files. The engine fills in the result's progress and intervals.
SavedPart write_groups(const std::vector<Group*>& groups, const PendingChains& pending,
                       const AddressMap& map, const std::vector<LoadedModule>& modules,
                       SectionWriter& file, std::uint32_t file_number);

// Reads a worker's groups from a saved run, which has one file of groups for each worker that saved
// it. Only one of these files is open at a time, because one worker may have to read the files of
// very many workers.
class SavedGroups {
  public:
    explicit SavedGroups(const SavedRun& saved) : saved_(saved) {}

    // Like read_group(). Throws SetupError.
    std::vector<EventRecord*> read(Group& group);

  private:
    const SavedRun& saved_;
    std::optional<SectionReader> file_;
    std::uint32_t number_ = 0;  // number of the open file
};

}  // namespace nw
