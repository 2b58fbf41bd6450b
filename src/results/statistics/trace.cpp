// SPDX-License-Identifier: Apache-2.0
#include "results/statistics/trace.hpp"

#include <algorithm>

namespace nw {
namespace {

// About 100 MB of JSON. Perfetto and chrome://tracing need several times as much memory to show the
// trace, and a browser tab may use only some GB.
constexpr std::size_t spans_max_of_run = std::size_t{1} << 20;
constexpr std::size_t spans_max_of_track = std::size_t{1} << 18;  // 8 MiB
constexpr std::size_t spans_min_of_track = std::size_t{1} << 13;

// A span that belongs to a single event is never merged, and lies within another span.
bool is_of_an_event(TraceKind kind) noexcept {
    return kind == TraceKind::rollback || kind == TraceKind::event;
}

}  // namespace

std::size_t trace_spans_max(std::size_t ranks, std::size_t workers) noexcept {
    return std::clamp(spans_max_of_run / (ranks * workers), spans_min_of_track, spans_max_of_track);
}

void TraceTrack::add(TraceKind kind, Clock::time_point start, Clock::time_point end,
                     std::uint64_t count, std::uint32_t lp, std::uint16_t type) {
    const auto ns = [](Clock::time_point time) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch())
            .count();
    };
    const TraceSpan span{ns(start), ns(end), count, kind, type, lp};
    if (!extend_last(span)) put(span);
}

// Stores the span, in the ring if the track is full. The replaced span may be a `left_out` span of
// an earlier piece of the run; then its count is added.
void TraceTrack::put(const TraceSpan& span) {
    if (spans_.size() < spans_max_) {
        spans_.push_back(span);
        return;
    }
    const TraceSpan& oldest = spans_[next_];
    left_out_ += oldest.kind == TraceKind::left_out ? oldest.count : 1;
    spans_[next_] = span;
    if (++next_ == spans_max_) next_ = spans_max_ / 2;
}

void TraceTrack::resume(const std::vector<TraceSpan>& earlier, std::int64_t before_ns) {
    for (TraceSpan span : earlier) {
        span.start_ns -= before_ns;
        span.end_ns -= before_ns;
        put(span);
    }
}

// Merges the span with the last span of its kind, if possible. Spans that lie within `span` were
// added before `span`, so they may be between the two spans.
bool TraceTrack::extend_last(const TraceSpan& span) noexcept {
    constexpr std::size_t looked_at = 4;
    if (is_of_an_event(span.kind) || span.kind == TraceKind::round) return false;
    for (std::size_t back = 1; back <= looked_at; ++back) {
        TraceSpan* last = from_back(back);
        if (last == nullptr || span.start_ns - last->end_ns > close_ns) return false;
        if (last->kind == span.kind) {
            if (span.end_ns - last->start_ns > longest_ns) return false;
            last->end_ns = span.end_ns;
            last->count += span.count;
            return true;
        }
        if (!is_of_an_event(last->kind)) return false;
    }
    return false;
}

TraceSpan* TraceTrack::from_back(std::size_t back) noexcept {
    if (left_out_ == 0) return back <= spans_.size() ? &spans_[spans_.size() - back] : nullptr;
    const std::size_t ring_begin = spans_max_ / 2;
    return &spans_[next_ >= ring_begin + back ? next_ - back
                                              : next_ + spans_max_ - ring_begin - back];
}

// The spans that were left out are represented by one span. Otherwise the thread would seem to be
// idle.
std::vector<TraceSpan> TraceTrack::spans() const {
    std::vector<TraceSpan> spans = spans_;
    if (left_out_ == 0) return spans;
    const auto at = [&](std::size_t i) { return spans.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t gap = spans_max_ / 2;
    std::rotate(at(gap), at(next_), spans.end());
    const std::int64_t begin = spans[gap - 1].end_ns;  // ends are in ascending order
    const std::int64_t end =
        std::min_element(at(gap), spans.end(), [](const TraceSpan& a, const TraceSpan& b) {
            return a.start_ns < b.start_ns;
        })->start_ns;
    spans.insert(at(gap), {begin, std::max(begin, end), left_out_, TraceKind::left_out});
    return spans;
}

}  // namespace nw
