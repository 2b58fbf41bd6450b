#include "checkpoint/saved_run.hpp"

#include <algorithm>
#include <type_traits>

#include "base/packing.hpp"

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
    std::size_t modules = run.modules.size();
    part(modules);
    if constexpr (!std::is_const_v<Run>) run.modules.resize(modules);
    for (auto& module : run.modules) {
        part(module.name);
        part(module.identity);
        part(module.begin);
        part(module.end);
    }
    part(run.files);
    part(run.groups);
    pack_tracks(part, run.tracks);
    IntervalSums::pack(part, run.intervals);
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
    return run;
}

}  // namespace nw
