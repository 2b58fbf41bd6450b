// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/saved_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "util/packing.hpp"

namespace nw {
namespace {

template <class Part, class Run>
void visit_parts(Part& part, Run& run) {
    part(run.identity);
    part(run.progress);
    part(run.output.table_bytes);
    part(run.output.table_ends);
    part(run.output.column_kinds);
    part(run.history.samples);
    part(run.history.interval_seconds);
    part(run.pieces);
    part(run.partition.lps);
    part(run.partition.lps_per_group);
    part(run.partition.groups);
    part(run.partition.slot_of_lp);
    part(run.region_base);
    part(run.slot_bytes);
    part(run.program_shift);
    part(run.stray.to_program);
    part(run.stray.to_module);
    part(run.stray.elsewhere);
    part(run.stray.example);
    part(run.stray.example_lp);
    part.each(run.modules, [&](auto& module) {
        part(module.name);
        part(module.identity);
        part(module.begin);
        part(module.end);
    });
    part(run.files);
    part(run.groups);
    pack_tracks(part, run.tracks);
    IntervalSums::pack(part, run.intervals);
}

// Whether the groups have room for all LPs, and no two LPs have the same slot.
bool is_whole(const SavedPartition& saved) {
    if (saved.lps == 0 || saved.lps_per_group == 0 ||
        saved.lps_per_group > Partition::lps_per_group_most || saved.groups == 0 ||
        saved.groups > Partition::groups_max)
        return false;
    const std::uint64_t slots = std::uint64_t{saved.groups} * saved.lps_per_group;
    if (saved.lps > slots) return false;
    if (saved.slot_of_lp.empty()) return true;
    std::vector<std::uint32_t> taken = saved.slot_of_lp;
    std::sort(taken.begin(), taken.end());
    return taken.size() == saved.lps && taken.back() < slots &&
           std::adjacent_find(taken.begin(), taken.end()) == taken.end();
}

bool is_whole(const SavedRun& run) {
    const auto has_file = [&](const auto& section) { return section.file < run.files.size(); };
    const auto is_in_folder = [](const std::string& file) {
        return !file.empty() && file.find('/') == std::string::npos;
    };
    std::uint32_t number = 0;
    return is_whole(run.partition) && run.groups.size() == run.partition.groups &&
           std::all_of(run.groups.begin(), run.groups.end(),
                       [&](const SavedGroup& group) {
                           return group.group == number++ && has_file(group);
                       }) &&
           std::all_of(run.tracks.begin(), run.tracks.end(), has_file) &&
           std::all_of(run.files.begin(), run.files.end(), is_in_folder) &&
           run.stray.to_module.size() <= run.modules.size() &&
           run.output.table_ends.size() == run.output.table_bytes.size() &&
           std::isfinite(run.progress.gvt) && run.progress.gvt >= 0;
}

}  // namespace

void SavedProgress::combine(const SavedProgress& other) noexcept {
    gvt = std::max(gvt, other.gvt);
    if (before(end_key, other.end_key)) end_key = other.end_key;
    last_committed_time = std::max(last_committed_time, other.last_committed_time);
    totals.add(other.totals);
    wall_seconds = std::max(wall_seconds, other.wall_seconds);
}

void StrayPointers::combine(const StrayPointers& other) {
    to_program += other.to_program;
    to_module.resize(std::max(to_module.size(), other.to_module.size()));
    for (std::size_t i = 0; i < other.to_module.size(); ++i) to_module[i] += other.to_module[i];
    elsewhere += other.elsewhere;
    if (!example.empty()) return;
    example = other.example;
    example_lp = other.example_lp;
}

std::string pack(const SavedRun& run) {
    Packer part;
    visit_parts(part, run);
    return part.take();
}

SavedRun unpack_saved_run(const std::string& bytes) {
    SavedRun run;
    Unpacker part(bytes);
    visit_parts(part, run);
    if (!is_whole(run)) throw DamagedBytes();
    return run;
}

}  // namespace nw
