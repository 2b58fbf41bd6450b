// SPDX-License-Identifier: Apache-2.0
// --trace: records when each thread did which work. Each worker, and the thread of --net-thread,
// writes spans to its own track. When the run is over, the tracks are written to a file
// (app/report/trace_file.hpp).
//
// Two spans of a track are either nested or disjoint, because viewers cannot draw partial overlaps.
// So a thread writes all its spans to its own track, also while it has the net role. GVT rounds
// belong to no thread and have a separate track.
//
// Consecutive spans of one kind are merged if they follow each other closely: a run has thousands
// of batches of 128 events per second, and a single batch is not informative. A track is bounded.
// When it is full, its first half is kept, and its second half becomes a ring. So the track of a
// run of any length shows the beginning and the end of the run, and the spans left out between them
// are counted. (Coarser spans for the whole run would not show the details for which a trace is
// made.)
//
// Cost: 27 ns for each part of a turn if tracing is on (reading the clock and storing a span),
// otherwise one branch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nw {

enum class TraceKind : std::uint8_t {
    execute,   // count: events
    event,     // a timed event of a declared type; lies within execute
    rollback,  // count: undone events; `lp`, `type`: the first of them; within execute or mail
    mail,      // draining bottom halves
    commit,
    idle,
    cut,       // a worker's part in a GVT round
    handover,  // count: groups that leave
    takeover,  // count: groups that came
    round,     // a GVT round, from its opening to its result
    send,      // batches to other ranks; count: batches
    receive,
    save,      // saving the whole run; count: groups
    left_out,  // replaces spans that were left out; count: spans
};

struct TraceSpan {
    std::int64_t start_ns;  // of the steady clock
    std::int64_t end_ns;
    std::uint64_t count;
    TraceKind kind;
    std::uint16_t type = 0;  // of an event; only kinds with an event have `type` and `lp`
    std::uint32_t lp = 0;
};
static_assert(sizeof(TraceSpan) == 32);

// The maximum number of spans of each track. A viewer must be able to load all tracks together.
std::size_t trace_spans_max(std::size_t ranks, std::size_t workers) noexcept;

// A track in a checkpoint and in the result of a run. It contains the spans of all pieces of the
// run. The times are nanoseconds since the beginning of the whole run.
struct NamedTrack {
    std::uint32_t rank = 0;
    std::string name;
    std::vector<TraceSpan> spans;  // a nested span precedes the span that contains it
};

// Thread: one at a time.
class TraceTrack {
  public:
    using Clock = std::chrono::steady_clock;

    // `spans_max` 0 switches the track off.
    explicit TraceTrack(std::size_t spans_max) : spans_max_(spans_max), next_(spans_max / 2) {
        spans_.reserve(spans_max);  // reserves addresses; pages are allocated on first use
    }

    bool on() const noexcept { return spans_max_ > 0; }
    // Requires: spans are added in the order of their ends.
    void add(TraceKind kind, Clock::time_point start, Clock::time_point end, std::uint64_t count,
             std::uint32_t lp = 0, std::uint16_t type = 0);
    // Adds the spans of earlier pieces of the run. Requires: the track is empty. The times of these
    // spans are nanoseconds since the beginning of the whole run. This piece begins `before_ns`
    // later. The spans are in the order of spans().
    void resume(const std::vector<TraceSpan>& earlier, std::int64_t before_ns);
    // Returns the spans in the order of their ends. Spans of earlier pieces have times of 0 or
    // less: nanoseconds before the event loop of this piece. Spans of this piece have times of the
    // steady clock, which are above 0.
    std::vector<TraceSpan> spans() const;

  private:
    static constexpr std::int64_t close_ns = 2'000;        // maximum distance of merged spans
    static constexpr std::int64_t longest_ns = 1'000'000;  // maximum length of a merged span

    bool extend_last(const TraceSpan& span) noexcept;
    void put(const TraceSpan& span);
    TraceSpan* from_back(std::size_t back) noexcept;  // 1: the last span; null: there is none

    std::size_t spans_max_;
    std::vector<TraceSpan> spans_;
    // If the track is full: the index for the next span, in [spans_max_ / 2, spans_max_). The
    // oldest span of the ring has this index now.
    std::size_t next_;
    std::uint64_t left_out_ = 0;
};

// Records the parts of one turn. A part lasts from the previous mark to its own mark.
class TraceTurn {
  public:
    explicit TraceTurn(TraceTrack& track) : track_(track) {}

    // `now`: the current time, if the caller has just read the clock.
    void begin(TraceTrack::Clock::time_point now) noexcept { last_ = now; }
    void begin() {
        if (track_.on()) [[unlikely]]
            last_ = TraceTrack::Clock::now();
    }
    // If `count` is 0, nothing is recorded, and the time belongs to the next part.
    void mark(TraceKind kind, std::uint64_t count, std::uint32_t lp = 0, std::uint16_t type = 0) {
        if (!track_.on() || count == 0) [[likely]]
            return;
        const auto now = TraceTrack::Clock::now();
        track_.add(kind, last_, now, count, lp, type);
        last_ = now;
    }

  private:
    TraceTrack& track_;
    TraceTrack::Clock::time_point last_{};
};

}  // namespace nw
