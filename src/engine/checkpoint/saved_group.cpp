// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/saved_group.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/checkpoint/saved_modules.hpp"
#include "event/short_events.hpp"
#include "lp/event_memory.hpp"
#include "memory/heap/lp_heap.hpp"
#include "plan/partition.hpp"
#include "util/packing.hpp"

namespace nw {
namespace {

// The beginning of a dump. The addresses of the pending events with a record follow, then the short
// events, then the group's memory.
struct GroupHeader {
    std::uint32_t group = 0;
    LpRecord* lps = nullptr;
    std::uint32_t count = 0;
    std::uint64_t pending = 0;       // number of events with a record
    std::uint64_t short_events = 0;  // number of short events
    std::vector<OutsideWord> constructed;
    std::vector<std::uint32_t> rolled_back;
};

template <class Part, class Header>
void visit_parts(Part& part, Header& header) {
    part(header.group);
    part(header.lps);
    part(header.count);
    part(header.pending);
    part(header.short_events);
    part(header.constructed);
    part(header.rolled_back);
}

bool by_place(const OutsideWord& a, const OutsideWord& b) noexcept { return a.where < b.where; }

StrayPointers find_strays(const Group& group, const AddressMap& map,
                          const std::vector<LoadedModule>& modules) {
    const bool program_may_move = AddressMap::program_shift() != 0;
    StrayPointers strays;
    strays.to_module.resize(modules.size());
    for (std::uint32_t i = 0; i < group.count; ++i) {
        const LpRecord& lp = group.lps[i];
        for_each_outside_pointer(lp.heap, map, [&](std::uint64_t* word, PointsTo points_to) {
            if (points_to == PointsTo::program && !program_may_move) return;
            const auto known = std::lower_bound(group.constructed.begin(), group.constructed.end(),
                                                OutsideWord{word, 0}, by_place);
            if (known != group.constructed.end() && known->where == word && known->value == *word)
                return;
            if (points_to == PointsTo::program) {
                ++strays.to_program;
                return;
            }
            if (const auto module = module_at(modules, *word)) {
                ++strays.to_module[*module];
                return;
            }
            if (++strays.elsewhere > 1) return;
            strays.example = fmt::format("has {:#x} at {}", *word, static_cast<const void*>(word));
            strays.example_lp = lp.id;
        });
    }
    return strays;
}

// Whether the word is in the group's memory, which contains the LPs that were just built.
bool is_readable(const Group& group, const std::uint64_t* word) noexcept {
    const auto* at = reinterpret_cast<const std::byte*>(word);
    for (const Segment& segment : group.memory.segments().entries())
        if (at >= segment.base && at + sizeof *word <= segment.base + segment.bytes) return true;
    return false;
}

}  // namespace

void note_constructed(Group& group, const AddressMap& map) {
    const bool program_may_move = AddressMap::program_shift() != 0;
    for (std::uint32_t i = 0; i < group.count; ++i)
        for_each_outside_pointer(group.lps[i].heap, map,
                                 [&](std::uint64_t* word, PointsTo points_to) {
                                     if (points_to == PointsTo::other || program_may_move)
                                         group.constructed.push_back({word, *word});
                                 });
    std::sort(group.constructed.begin(), group.constructed.end(), by_place);
}

PendingChains::PendingChains(const PendingSet& pending, const Partition& partition)
    : of_group_(partition.groups()) {
    const auto chain_of = [&](const PendingEntry& entry) -> OfGroup& {
        return of_group_[partition.position(entry.target).group];
    };
    // Short events are counted first, because the growth of a vector would take memory twice.
    pending.for_each([&](const PendingEntry& entry) {
        if (!entry.has_record()) ++chain_of(entry).short_count;
    });
    for (OfGroup& chain : of_group_) chain.short_events.reserve(chain.short_count);
    pending.for_each([&](const PendingEntry& entry) {
        OfGroup& chain = chain_of(entry);
        if (entry.has_record())
            entry.record()->next_sent = std::exchange(chain.first, entry.record());
        else
            chain.short_events.push_back(&entry);
    });
}

StrayPointers write_group(const Group& group, const PendingChains& chains, const AddressMap& map,
                          const std::vector<LoadedModule>& modules, const WriteBytes& write) {
    NW_CHECK(group.unmatched_anti_messages.empty());
    const PendingChains::OfGroup& pending = chains.of(group.mail.group());
    std::uint64_t events = 0;
    for (const EventRecord* event = pending.first; event != nullptr; event = event->next_sent)
        ++events;
    const GroupHeader header{
        group.mail.group(),          group.lps,         group.count,      events,
        pending.short_events.size(), group.constructed, group.rolled_back};
    Packer part;
    visit_parts(part, header);
    const std::string bytes = part.take();
    const std::uint64_t size = bytes.size();
    write(&size, sizeof size);
    write(bytes.data(), bytes.size());
    for (const EventRecord* event = pending.first; event != nullptr; event = event->next_sent)
        write(&event, sizeof event);
    for (const PendingEntry* entry : pending.short_events) {
        const EventHeader event = header_of(*entry);
        write(&event, sizeof event);
        if (event.payload_bytes > 0) write(entry->short_body()->payload, event.payload_bytes);
    }
    write_group_memory(group.memory, write);
    return find_strays(group, map, modules);
}

std::vector<EventRecord*> read_group(Group& group, const ReadBytes& read) {
    std::uint64_t size = 0;
    read(&size, sizeof size);
    std::string bytes(size, '\0');
    read(bytes.data(), bytes.size());
    GroupHeader header;
    Unpacker part(bytes);
    visit_parts(part, header);
    NW_CHECK(header.group == group.mail.group());
    std::vector<EventRecord*> pending(header.pending);
    read(pending.data(), pending.size() * sizeof(EventRecord*));
    std::vector<EventHeader> short_events(header.short_events);
    std::string payloads;
    for (EventHeader& event : short_events) {
        read(&event, sizeof event);
        payloads.resize(payloads.size() + event.payload_bytes);
        read(payloads.data() + payloads.size() - event.payload_bytes, event.payload_bytes);
    }

    std::vector<OutsideWord> built = header.constructed;
    for (OutsideWord& word : built) {
        if (!is_readable(group, word.where))
            throw SetupError(
                "the constructors of LPs allocate different memory than when the state was written "
                "(--restart, --rebind-ranks); allowed: constructors that depend only on their "
                "arguments");
        word.value = *word.where;
    }
    read_group_memory(group.memory, read);
    group.lps = header.lps;
    group.count = header.count;
    group.rolled_back = std::move(header.rolled_back);
    for (std::uint32_t i = 0; i < group.count; ++i) group.lps[i].heap.adopt(group.memory);
    for (std::size_t i = 0; i < built.size(); ++i)
        if (*built[i].where == header.constructed[i].value) *built[i].where = built[i].value;
    group.constructed = std::move(built);
    const auto* payload = reinterpret_cast<const std::byte*>(payloads.data());
    for (const EventHeader& event : short_events) {
        pending.push_back(&new_event(group, event, payload));
        payload += event.payload_bytes;
    }
    return pending;
}

SavedPart write_groups(const std::vector<Group*>& groups, const PendingChains& pending,
                       const AddressMap& map, const std::vector<LoadedModule>& modules,
                       SectionWriter& file, std::uint32_t file_number) {
    SavedPart part;
    for (const LoadedModule& module : modules) part.modules_at.push_back(module.begin);
    for (const Group* group : groups) {
        const std::uint32_t g = group->mail.group();
        part.stray.combine(
            write_group(*group, pending, map, modules,
                        [&](const void* bytes, std::size_t size) { file.write(bytes, size); }));
        part.groups.push_back({g, file_number, file.end_section()});
    }
    return part;
}

std::vector<EventRecord*> SavedGroups::read(Group& group) {
    const SavedGroup& from = saved_.groups[group.mail.group()];
    if (!file_ || number_ != from.file) {
        number_ = from.file;
        file_.emplace(saved_.folder + "/" + saved_.files[number_]);
    }
    file_->open(from.section);
    return read_group(group, [&](void* bytes, std::size_t size) { file_->read(bytes, size); });
}

}  // namespace nw
