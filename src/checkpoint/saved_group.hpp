// A group in a saved run, or on its way to another rank: its memory, its pending events, and where its LPs point out of their heaps.
//
// The dump is taken between two events, with no past and no mail: LpRecords, heaps and pending events
// lie in the group's memory, at addresses that are the same in the process that goes on. What may be
// elsewhere there are the program's functions and what the model shares with its LPs. LPs get at that
// by what their constructors were given, and so who goes on builds the LPs anew before it lays the
// dump over them, and every word that still holds what the constructor had put there then, gets what
// the constructor puts there now. Pointers that handlers make to such places are not known; those that
// look so are counted, and those into libraries by library.
//
// Thread: the group's owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/saved_run.hpp"
#include "event/event_key.hpp"
#include "file/section_file.hpp"
#include "lp/group.hpp"
#include "measures/interval_sums.hpp"
#include "numa/image/group_image.hpp"
#include "numa/image/outside_pointers.hpp"

namespace nw {

// What a worker has to say when the run is saved.
struct SavedPart {
    SavedProgress progress;
    StrayPointers stray;
    std::vector<std::uint64_t> modules_at;  // where this rank has its libraries
    std::vector<SavedGroup> groups;
    IntervalSums intervals;  // since this process began
};

// Requires: the LPs were built and nothing has happened since.
void note_constructed(Group& group, const AddressMap& map);

// Pending events by group, so that saving takes no memory for them: chained by a member that means nothing once
// their senders' events are final.
class PendingChains {
  public:
    explicit PendingChains(std::size_t groups) : first_(groups) {}

    void add(std::uint32_t group, EventRecord& event) noexcept;
    const EventRecord* first(std::uint32_t group) const noexcept { return first_[group]; }

  private:
    std::vector<EventRecord*> first_;  // null: none
};

// `pending`: the chain of all events for LPs of the group. Requires: note_constructed() was called; no LP has
// a history, nothing is under way to the group. Throws what write() throws.
StrayPointers write_group(const Group& group, const EventRecord* pending, const AddressMap& map,
                          const std::vector<LoadedModule>& modules, const WriteBytes& write);

// What write_group() wrote replaces the LPs of `group`, which were just built. Returns the pending
// events. Throws SetupError if the constructors did not do what they did then, and what read() throws.
std::vector<EventRecord*> read_group(Group& group, const ReadBytes& read);

// A worker's groups, each a section of `file`, which has that number. What is known of progress is the engine's
// to say.
SavedPart write_groups(const std::vector<Group*>& groups, const PendingChains& pending,
                       const AddressMap& map, const std::vector<LoadedModule>& modules,
                       SectionWriter& file, std::uint32_t file_number);

// Where a worker reads its groups from. One file is open at a time: a run of very many workers may go on with
// few.
class SavedGroups {
  public:
    explicit SavedGroups(const SavedRun& saved) : saved_(saved) {}

    // As read_group(). Throws SetupError.
    std::vector<EventRecord*> read(Group& group);

  private:
    const SavedRun& saved_;
    std::optional<SectionReader> file_;
    std::uint32_t number_ = 0;  // of the open file
};

}  // namespace nw
