// SPDX-License-Identifier: Apache-2.0
// Tests which spans a track keeps when it is full, and which spans it merges.
#include <algorithm>

#include "results/statistics/trace.hpp"
#include "tests/support/catch.hpp"

using namespace nw;
using std::chrono::microseconds;

namespace {

const TraceTrack::Clock::time_point start{std::chrono::hours(5)};

// Adds the i-th span of 1 µs. Spans begin 10 µs apart, too far from each other to be merged.
void add_apart(TraceTrack& track, int i, TraceKind kind = TraceKind::execute) {
    track.add(kind, start + microseconds(10 * i), start + microseconds(10 * i + 1),
              static_cast<std::uint64_t>(i));
}

}  // namespace

TEST_CASE(
    "TraceTrack: a full track contains its first half, the last spans, and the gap between them") {
    constexpr int kept = 10;
    for (int added = 0; added < 50; ++added) {
        TraceTrack track(kept);
        for (int i = 0; i < added; ++i) add_apart(track, i);
        const std::vector<TraceSpan> spans = track.spans();
        const int left_out = std::max(0, added - kept);
        std::vector<int> wanted;
        for (int i = 0; i < added; ++i)
            if (i < kept / 2 || i >= added - kept / 2 || left_out == 0) wanted.push_back(i);
        std::vector<int> found;
        for (const TraceSpan& span : spans)
            if (span.kind == TraceKind::execute) found.push_back(static_cast<int>(span.count));
        CHECK(found == wanted);
        CHECK(spans.size() == wanted.size() + (left_out > 0 ? 1 : 0));
        if (left_out == 0) continue;
        REQUIRE(spans[kept / 2].kind == TraceKind::left_out);
        const TraceSpan& gap = spans[kept / 2];
        CHECK(gap.count == static_cast<std::uint64_t>(left_out));
        CHECK(gap.start_ns == spans[kept / 2 - 1].end_ns);
        CHECK(gap.end_ns == spans[kept / 2 + 1].start_ns);
    }
}

TEST_CASE("TraceTrack: adjacent spans of one kind are merged even if there are rollbacks in them") {
    TraceTrack track(100);
    const auto add = [&](TraceKind kind, int from_us, int to_us) {
        track.add(kind, start + microseconds(from_us), start + microseconds(to_us), 1);
    };
    add(TraceKind::rollback, 1, 2);
    add(TraceKind::execute, 0, 5);
    add(TraceKind::rollback, 6, 7);
    add(TraceKind::rollback, 7, 8);
    add(TraceKind::execute, 5, 9);
    add(TraceKind::execute, 20, 25);  // after a pause
    add(TraceKind::mail, 25, 26);
    add(TraceKind::execute, 26, 30);  // after a span of another kind
    std::vector<TraceKind> kinds;
    for (const TraceSpan& span : track.spans()) kinds.push_back(span.kind);
    CHECK(kinds == std::vector<TraceKind>{TraceKind::rollback, TraceKind::execute,
                                          TraceKind::rollback, TraceKind::rollback,
                                          TraceKind::execute, TraceKind::mail, TraceKind::execute});
    CHECK(track.spans()[1].count == 2);
}

TEST_CASE("TraceTrack: a full track extends the last span and not the oldest") {
    TraceTrack track(8);
    for (int i = 0; i < 13; ++i) add_apart(track, i);
    track.add(TraceKind::execute, start + microseconds(121), start + microseconds(122), 1000);
    const std::vector<TraceSpan> spans = track.spans();
    CHECK(spans[4].kind == TraceKind::left_out);
    CHECK(spans[4].count == 5);
    CHECK(spans.back().count == 1012);
}

// For pieces of all lengths and tracks of several sizes, every span is kept or counted as left out.
TEST_CASE("TraceTrack: a continued track has the first spans and the last spans and all gaps") {
    for (const int kept : {4, 8, 16})
        for (int first = 0; first < 30; ++first)
            for (int second = 0; second < 30; ++second) {
                TraceTrack earlier(8), later(static_cast<std::size_t>(kept));
                for (int i = 0; i < first; ++i) add_apart(earlier, i);
                std::vector<TraceSpan> saved = earlier.spans();
                // Saved times count from the beginning of the event loop.
                for (TraceSpan& span : saved) {
                    span.start_ns -= start.time_since_epoch().count();
                    span.end_ns -= start.time_since_epoch().count();
                }
                constexpr std::int64_t before_ns = 1'000'000;
                later.resume(saved, before_ns);
                for (int i = first; i < first + second; ++i) add_apart(later, i);
                std::uint64_t left_out = 0, there = 0;
                std::int64_t end = -before_ns;
                for (const TraceSpan& span : later.spans()) {
                    CHECK(end <= span.start_ns);
                    CHECK(span.start_ns <= span.end_ns);
                    end = span.end_ns;
                    (span.kind == TraceKind::left_out ? left_out : there) +=
                        span.kind == TraceKind::left_out ? span.count : 1;
                }
                CHECK(there + left_out == static_cast<std::uint64_t>(first + second));
                CHECK(there <= static_cast<std::uint64_t>(kept));
            }
}

TEST_CASE("TraceTrack: all tracks of a run together are bounded and each track has some room") {
    CHECK(trace_spans_max(1, 2) == std::size_t{1} << 18);
    CHECK(trace_spans_max(4, 16) == std::size_t{1} << 14);
    CHECK(trace_spans_max(1000, 64) == std::size_t{1} << 13);
}
