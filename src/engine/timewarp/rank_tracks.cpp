// SPDX-License-Identifier: Apache-2.0
#include "engine/timewarp/rank_tracks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "util/check.hpp"
#include "util/file/section_file.hpp"

namespace nw {
namespace {

template <class Time>
std::int64_t ns(Time time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::int64_t system_less_steady_ns() {
    return ns(std::chrono::system_clock::now()) - ns(TraceTrack::Clock::now());
}

std::int64_t last_end_ns(const std::vector<TraceSpan>& spans) {
    return spans.empty() ? 0 : spans.back().end_ns;  // spans are in the order of their ends
}

// The end of the saved pieces. It is at or after the ends of all tracks: the ranks' clocks differ
// slightly, but all spans must end before the next piece begins.
std::int64_t end_ns(const SavedRun& saved) {
    auto end = static_cast<std::int64_t>(std::ceil(saved.progress.wall_seconds * 1e9));
    for (const SavedTrack& track : saved.tracks) end = std::max(end, track.end_ns);
    return end;
}

std::vector<TraceSpan> read_spans(const SavedRun& saved, const SavedTrack& track) {
    SectionReader file(saved.folder + "/" + saved.files[track.file]);
    file.open(track.section);
    std::vector<TraceSpan> spans(track.section.bytes / sizeof(TraceSpan));
    file.read(spans.data(), spans.size() * sizeof(TraceSpan));
    return spans;
}

}  // namespace

// Converts a time of the running piece to the time of the whole run.
struct RankTracks::Clock {
    std::int64_t before_ns;
    std::int64_t begin_ns;  // of the steady clock, when the first rank begins its event loop

    // Times up to 0 belong to earlier pieces (TraceTrack::resume()). All other times are raised to
    // at least 0: threads may trace spans shortly before worker 0 calls begin(), and the sends of
    // on_start() are even earlier.
    std::int64_t operator()(std::int64_t time) const noexcept {
        return before_ns + (time > 0 ? std::max<std::int64_t>(time - begin_ns, 0) : time);
    }
};

RankTracks::RankTracks(EngineRun& run, std::vector<Own> own) : run_(run), own_(std::move(own)) {
    std::erase_if(own_, [](const Own& one) { return !one.track->on(); });
}

void RankTracks::resume() {
    const SavedRun* const saved = run_.plan.config.restart_from.get();
    if (own_.empty() || saved == nullptr) return;
    before_ns_ = end_ns(*saved);
    if (saved->tracks.empty())
        run_.result.notices.push_back(
            fmt::format("--trace: the run was saved without a trace, so the trace begins at {:.6g} "
                        "s of the run",
                        saved->progress.wall_seconds));
    const std::uint32_t rank = index(run_.ranks.rank());
    for (const SavedTrack& track : saved->tracks) {
        if (track.rank % run_.ranks.ranks() != rank) continue;
        std::vector<TraceSpan> spans = read_spans(*saved, track);
        const auto own = std::find_if(own_.begin(), own_.end(), [&](const Own& one) {
            return track.rank == rank && track.name == one.name;
        });
        if (own != own_.end())
            own->track->resume(spans, before_ns_);
        else
            others_.push_back({track.rank, track.name, std::move(spans)});
    }
}

// The hosts have only the system clock in common.
RankTracks::Clock RankTracks::clock() const {
    const std::int64_t difference = system_less_steady_ns();
    std::int64_t begin = ns(begin_) + difference;
    for (const std::string& theirs : run_.ranks.share(std::to_string(begin)))
        begin = std::min<std::int64_t>(begin, std::stoll(theirs));
    return {before_ns_, begin - difference};
}

NamedTrack RankTracks::named(const Own& own, const Clock& clock) const {
    NamedTrack track{index(run_.ranks.rank()), own.name, own.track->spans()};
    for (TraceSpan& span : track.spans) {
        span.start_ns = clock(span.start_ns);
        span.end_ns = clock(span.end_ns);
    }
    return track;
}

// Converts one track at a time, because a copy may have 8 MiB.
std::vector<SavedTrack> RankTracks::save(const std::string& path, std::uint32_t file_number) const {
    const Clock time = clock();
    SectionWriter file(path);
    std::vector<SavedTrack> saved;
    const auto write = [&](const NamedTrack& track) {
        file.write(track.spans.data(), track.spans.size() * sizeof(TraceSpan));
        saved.push_back(
            {track.rank, track.name, last_end_ns(track.spans), file_number, file.end_section()});
    };
    for (const Own& own : own_) write(named(own, time));
    for (const NamedTrack& other : others_) write(other);
    file.finish();
    return saved;
}

void RankTracks::gather() {
    if (own_.empty()) return;
    const Clock time = clock();
    for (const Own& own : own_) run_.result.trace.push_back(named(own, time));
    for (NamedTrack& other : others_) run_.result.trace.push_back(std::move(other));
    report_left_out_spans();
}

void RankTracks::report_left_out_spans() const {
    std::uint64_t left_out = 0, kept = 0;
    for (const NamedTrack& track : run_.result.trace)
        for (const TraceSpan& span : track.spans) {
            if (span.kind == TraceKind::left_out)
                left_out += span.count;
            else
                ++kept;
        }
    if (left_out > 0)
        run_.result.notices.push_back(
            fmt::format("--trace: {} spans of {}, from the middle of the run, are left out; the "
                        "first and the last spans of each worker are kept",
                        left_out, left_out + kept));
}

}  // namespace nw
