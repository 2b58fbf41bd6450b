// A track of spans: what it keeps when it is full, and what it makes one.
#include <algorithm>

#include "stats/trace.hpp"
#include "tests/support/catch.hpp"

using namespace nw;
using std::chrono::microseconds;

namespace {

const TraceTrack::Clock::time_point start{std::chrono::hours(5)};

// One that begins so many microseconds after the start, and is not close to its neighbours in time.
void add_apart(TraceTrack& track, int i, TraceKind kind = TraceKind::execute) {
    track.add(kind, start + microseconds(10 * i), start + microseconds(10 * i + 1),
              static_cast<std::uint64_t>(i));
}

}  // namespace

TEST_CASE("TraceTrack: a full one has its first half, the last spans, and the gap between") {
    constexpr int kept = 10;
    for (int added = 0; added < 50; ++added) {
        TraceTrack track(kept);
        for (int i = 0; i < added; ++i) add_apart(track, i);
        const NamedTrack named = track.named("worker 0");
        const int left_out = std::max(0, added - kept);
        CHECK(named.left_out == static_cast<std::uint64_t>(left_out));
        std::vector<int> wanted;
        for (int i = 0; i < added; ++i)
            if (i < kept / 2 || i >= added - kept / 2 || left_out == 0) wanted.push_back(i);
        std::vector<int> found;
        for (const TraceSpan& span : named.spans)
            if (span.kind == TraceKind::execute) found.push_back(static_cast<int>(span.count));
        CHECK(found == wanted);
        if (left_out == 0) continue;
        REQUIRE(named.spans[kept / 2].kind == TraceKind::left_out);
        const TraceSpan& gap = named.spans[kept / 2];
        CHECK(gap.count == static_cast<std::uint64_t>(left_out));
        CHECK(gap.start_ns == named.spans[kept / 2 - 1].end_ns);
        CHECK(gap.end_ns == named.spans[kept / 2 + 1].start_ns);
    }
}

TEST_CASE("TraceTrack: spans of a kind that follow closely are one, around the rollbacks in them") {
    TraceTrack track(100);
    const auto add = [&](TraceKind kind, int from_us, int to_us) {
        track.add(kind, start + microseconds(from_us), start + microseconds(to_us), 1);
    };
    add(TraceKind::rollback, 1, 2);
    add(TraceKind::execute, 0, 5);
    add(TraceKind::rollback, 6, 7);
    add(TraceKind::rollback, 7, 8);
    add(TraceKind::execute, 5, 9);
    add(TraceKind::execute, 20, 25);  // a pause before it
    add(TraceKind::mail, 25, 26);
    add(TraceKind::execute, 26, 30);  // something else before it
    std::vector<TraceKind> kinds;
    for (const TraceSpan& span : track.named("").spans) kinds.push_back(span.kind);
    CHECK(kinds == std::vector<TraceKind>{TraceKind::rollback, TraceKind::execute,
                                          TraceKind::rollback, TraceKind::rollback,
                                          TraceKind::execute, TraceKind::mail, TraceKind::execute});
    CHECK(track.named("").spans[1].count == 2);
}

TEST_CASE("TraceTrack: what is extended when the track is full is the last span, not the oldest") {
    TraceTrack track(8);
    for (int i = 0; i < 13; ++i) add_apart(track, i);
    track.add(TraceKind::execute, start + microseconds(121), start + microseconds(122), 1000);
    const NamedTrack named = track.named("");
    CHECK(named.left_out == 5);
    CHECK(named.spans.back().count == 1012);
}

TEST_CASE("TraceTrack: all tracks of a run together are bounded, and each has room for something") {
    CHECK(trace_spans_max(1, 2) == std::size_t{1} << 18);
    CHECK(trace_spans_max(4, 16) == std::size_t{1} << 14);
    CHECK(trace_spans_max(1000, 64) == std::size_t{1} << 13);
}
