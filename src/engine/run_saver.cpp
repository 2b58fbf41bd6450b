// SPDX-License-Identifier: Apache-2.0
#include "engine/run_saver.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/packing.hpp"

namespace nw {
namespace {

// The first character of the message that the first rank shares when a save begins: success, or a
// failure. A path or a description of the failure follows.
constexpr char well = '+';
constexpr char unwell = '-';

template <class Part, class Saved>
void visit_part(Part& part, Saved& saved) {
    part(saved.progress);
    part(saved.stray.to_program);
    part(saved.stray.to_module);
    part(saved.stray.elsewhere);
    part(saved.stray.example);
    part(saved.stray.example_lp);
    part(saved.modules_at);
    part(saved.groups);
    IntervalSums::pack(part, saved.intervals);
}

// Each other rank sends one message of this type to the first rank when its files are written. Then
// the first rank sends the common result to all ranks.
struct Message {
    std::string failure;       // empty: no failure
    std::uint64_t signal = 0;  // the signal that the rank has received; 0: none
    std::vector<SavedPart> parts{};
    std::vector<SavedTrack> tracks{};
};

template <class Part, class AnyMessage>
void visit_message(Part& part, AnyMessage& message) {
    part(message.failure);
    part(message.signal);
    part.each(message.parts, [&](auto& saved) { visit_part(part, saved); });
    pack_tracks(part, message.tracks);
}

std::string pack_message(const Message& message) {
    Packer part;
    visit_message(part, message);
    return part.take();
}

Message unpack_message(const std::string& bytes) {
    Message message;
    Unpacker part(bytes);
    visit_message(part, message);
    return message;
}

}  // namespace

Stopwatch begin_progress(EngineRun& run, RunHistory& history) {
    if (run.paused != nullptr) {
        history = std::move(run.paused->history);
        return run.paused->loop;
    }
    RunSample first;
    const SavedRun* const saved = run.plan.config.restart_from.get();
    std::vector<RunPiece>& pieces = run.result.saving.pieces;
    if (saved != nullptr) {
        const Counters& totals = saved->progress.totals;
        first = {.seconds = saved->progress.wall_seconds,
                 .gvt = saved->progress.gvt,
                 .committed_events = totals[Counter::committed_events],
                 .executed_events = totals[Counter::executed_events],
                 .rolled_back_events = totals[Counter::rolled_back_events],
                 .gvt_rounds = totals[Counter::gvt_rounds]};
        pieces = saved->pieces;
    }
    pieces.push_back({first.seconds, first.gvt, first.committed_events, first.executed_events,
                      first.rolled_back_events, first.gvt_rounds, run.plan.ranks,
                      run.plan.workers});
    history.begin(RunHistory::Clock::now(), first, saved != nullptr ? &saved->history : nullptr);
    run.progress.begin(first.gvt);
    return {};
}

void begin_output(EngineRun& run) {
    if (!run.plan.config.restart_from || run.paused != nullptr) return;
    run.ranks.share({});
    run.begin_output();
}

std::vector<SavedTrack> SavedRank::save_trace(const std::string&, std::uint32_t) { return {}; }

RunSaver::RunSaver(EngineRun& run, SavedRank& rank, std::vector<SavedWorker*> workers,
                   std::barrier<>& barrier)
    : run_(run),
      rank_(rank),
      workers_(std::move(workers)),
      barrier_(barrier),
      folder_(run.plan.config.save.directory),
      parts_(run.plan.workers),
      failures_(run.plan.workers) {}

void RunSaver::begin(const Stopwatch& loop) {
    loop_ = loop;
    if (run_.plan.config.save.on()) schedule_next();
}

void RunSaver::schedule_next() {
    if (!run_.ranks.is_first()) return;
    const std::chrono::duration<double> interval(run_.plan.config.save.period_seconds);
    using Clock = SavedWorker::Clock;
    workers_[0]->save_at(Clock::now() + std::chrono::duration_cast<Clock::duration>(interval));
}

void RunSaver::save(std::uint32_t w) {
    const Stopwatch watch;
    const auto guarded = [&](auto&& step) {
        try {
            if (!rank_.cannot_continue()) step();
        } catch (...) {
            rank_.fail_now();
        }
    };
    if (w == 0) guarded([&] { open(); });
    barrier_.arrive_and_wait();
    if (failure_.empty()) guarded([&] { write_part(w); });
    barrier_.arrive_and_wait();
    SavedWorker& worker = *workers_[w];
    if (w == 0) {
        guarded([&] { close(); });
        run_.result.saving.seconds += watch.wall_seconds();
        schedule_next();
    }
    barrier_.arrive_and_wait();
    if (signal_ != 0)
        worker.end_interrupted();
    else
        worker.resume();
}

// The output is written first. If a later step fails, the tables extend beyond the last checkpoint,
// and a restart from the last checkpoint cuts the tables to the position that this checkpoint
// contains.
void RunSaver::open() {
    output_ = run_.sync_output();
    std::string said;
    if (run_.ranks.is_first()) {
        try {
            said = well + folder_.begin();
        } catch (const MachineError& error) {
            said = unwell + std::string(error.what());
        }
    }
    said = run_.ranks.share(said).front();
    path_ = said.substr(1);
    failure_ = said.front() == well ? "" : path_;
    std::vector<AddressRange> stacks;
    for (const SavedWorker* worker : workers_) stacks.push_back(worker->stack());
    map_.emplace(run_.memory.os(), std::move(stacks));
    if (failure_.empty() && run_.plan.config.trace) write_trace();
}

// Thread: worker 0. The other workers wait, so their tracks do not change.
void RunSaver::write_trace() {
    const std::uint32_t rank = index(run_.ranks.rank());
    try {
        tracks_ = rank_.save_trace(path_ + "/" + SavedRunFolder::trace_file(rank),
                                   run_.ranks.ranks() * run_.plan.workers + rank);
    } catch (const MachineError& error) {
        failures_[0] = error.what();
    }
}

void RunSaver::write_part(std::uint32_t w) {
    const std::uint32_t rank = index(run_.ranks.rank());
    try {
        SectionWriter file(path_ + "/" + SavedRunFolder::groups_file(rank, w));
        parts_[w] = workers_[w]->save(file, rank * run_.plan.workers + w, *map_);
        file.finish();
    } catch (const MachineError& error) {
        if (failures_[w].empty()) failures_[w] = error.what();
    }
}

// A signal that arrived during the save also ends the run, without another save.
void RunSaver::close() {
    Message own{failure_, static_cast<std::uint64_t>(rank_.signal_to_end()), std::move(parts_),
                std::exchange(tracks_, {})};
    parts_ = std::vector<SavedPart>(run_.plan.workers);
    for (std::string& failure : failures_)
        if (own.failure.empty()) own.failure = std::exchange(failure, {});
    if (!run_.ranks.is_first()) {
        run_.ranks.send(RankId{0}, pack_message(own));
    } else {
        for (std::uint32_t r = 1; r < run_.ranks.ranks(); ++r) {
            Message theirs = unpack_message(run_.ranks.receive(RankId{r}));
            if (own.failure.empty()) own.failure = theirs.failure;
            own.signal = std::max(own.signal, theirs.signal);
            std::move(theirs.parts.begin(), theirs.parts.end(), std::back_inserter(own.parts));
            std::move(theirs.tracks.begin(), theirs.tracks.end(), std::back_inserter(own.tracks));
        }
        if (own.failure.empty()) {
            try {
                complete(std::move(own.parts), std::move(own.tracks));
            } catch (const MachineError& error) {
                own.failure = error.what();
            }
        }
        if (!own.failure.empty()) folder_.abandon();
        own.parts.clear();
        own.tracks.clear();
    }
    const Message outcome =
        unpack_message(run_.ranks.share(run_.ranks.is_first() ? pack_message(own) : "").front());
    failure_.clear();
    signal_ = outcome.signal;
    run_.result.signal = static_cast<int>(signal_);
    if (outcome.failure.empty()) return;
    if (signal_ != 0) throw MachineError("--checkpoint: " + outcome.failure);
    if (run_.ranks.is_first() && run_.progress.warn)
        run_.progress.warn("--checkpoint: " + outcome.failure +
                           "; the run continues, and no earlier checkpoint is lost");
}

void RunSaver::complete(std::vector<SavedPart> parts, std::vector<SavedTrack> tracks) {
    const RunPlan& plan = run_.plan;
    SavedRun saved;
    saved.identity = plan.config.save.identity;
    saved.output = output_;
    saved.history = rank_.history().saved();
    saved.pieces = run_.result.saving.pieces;
    saved.partition = plan.partition.save();
    saved.region_base = run_.memory.region()->base();
    saved.slot_bytes = run_.memory.region()->slot_bytes();
    saved.program_shift = AddressMap::program_shift();
    saved.modules = plan.config.save.modules;
    for (std::uint32_t r = 0; r < run_.ranks.ranks(); ++r)
        for (std::uint32_t w = 0; w < plan.workers; ++w)
            saved.files.push_back(SavedRunFolder::groups_file(r, w));
    for (std::uint32_t r = 0; plan.config.trace && r < run_.ranks.ranks(); ++r)
        saved.files.push_back(SavedRunFolder::trace_file(r));
    saved.tracks = std::move(tracks);
    if (plan.config.restart_from) {
        saved.progress.totals = plan.config.restart_from->progress.totals;
        saved.progress.wall_seconds = plan.config.restart_from->progress.wall_seconds;
        saved.intervals = plan.config.restart_from->intervals;
    }
    saved.progress.wall_seconds += loop_.wall_seconds();
    for (SavedPart& part : parts) {
        saved.progress.combine(part.progress);
        saved.stray.combine(part.stray);
        saved.intervals += part.intervals;
        // If LPs of a rank point into a library, and the library has another address on this rank
        // than on the first rank, the saved address becomes 0. The addresses differ only if
        // addresses are random or if the machines differ.
        for (std::size_t i = 0; i < part.stray.to_module.size(); ++i)
            if (part.stray.to_module[i] > 0 && part.modules_at[i] != saved.modules[i].begin)
                saved.modules[i].begin = 0;
        saved.groups.insert(saved.groups.end(), part.groups.begin(), part.groups.end());
    }
    std::sort(saved.groups.begin(), saved.groups.end(),
              [](const SavedGroup& a, const SavedGroup& b) { return a.group < b.group; });
    NW_CHECK(saved.groups.size() == plan.partition.groups());
    folder_.complete(saved);

    SavingReport& report = run_.result.saving;
    ++report.written;
    report.bytes = 0;
    for (const SavedGroup& group : saved.groups) report.bytes += group.section.bytes;
    for (const SavedTrack& track : saved.tracks) report.bytes += track.section.bytes;
    report.saved_at = saved.progress.gvt;
    if (!has_warned_of_strays_ && run_.progress.warn) warn_of_strays(saved);
}

// Warns at most once per run.
void RunSaver::warn_of_strays(const SavedRun& saved) {
    const StrayPointers& stray = saved.stray;
    if (stray.elsewhere > 0)
        run_.progress.warn(
            fmt::format("--checkpoint: handlers of LPs have stored {} words that look like "
                        "pointers to memory outside of the LPs; a run that restarts from this "
                        "checkpoint could not use these pointers (first: {} {}); "
                        "docs/how-to/checkpoints.md",
                        stray.elsewhere, run_.plan.kinds.name(stray.example_lp), stray.example));
    const auto pointed_to = std::find_if(stray.to_module.begin(), stray.to_module.end(),
                                         [](std::uint64_t pointers) { return pointers > 0; });
    const std::string& why = run_.plan.config.save.why_addresses_differ;
    const bool may_move = pointed_to != stray.to_module.end() && !why.empty();
    if (may_move)
        run_.progress.warn(fmt::format(
            "--checkpoint: {} words in LPs point into the library {}, and libraries have different "
            "addresses in each process here ({}); no run can restart from this checkpoint; "
            "docs/how-to/checkpoints.md",
            *pointed_to,
            saved.modules[static_cast<std::size_t>(pointed_to - stray.to_module.begin())].name,
            why));
    has_warned_of_strays_ = stray.elsewhere > 0 || may_move;
}

}  // namespace nw
