// --trace: what each thread did when, for the eye. Every thread of interest writes a track of spans of
// its own; they are turned into a file when the run is over (results/trace_file.hpp).
//
// Spans of a track nest or are apart, never half in another: viewers draw nothing sensible else. So a
// thread's spans stand in its own track, whatever role it had just taken, and GVT rounds, which are
// nobody's, in one by themselves.
//
// Spans that follow each other closely and are alike become one: batches of 128 events, thousands a
// second, say nothing singly. A track is bounded. When it is full its first half stays and the second
// becomes a ring, so that a run of any length shows how it began and how it ended; what is left out
// between is counted. (Coarser spans for all of it would show none of what a trace is for.)
//
// Cost: 27 ns for each part of a turn when on (a look at the clock and a span), a branch when off.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nw {

enum class TraceKind : std::uint8_t {
    execute,  // count: events
    event,    // one that is timed, of declared types; lies within execute
    rollback,  // count: events undone, from that of `lp` and `type` on; lies within execute, or within mail
    mail,  // draining bottom halves
    commit,
    idle,
    cut,       // a worker's part in a GVT round
    handover,  // count: groups that leave
    takeover,  // count: groups that came
    round,     // of GVT, from its opening to its result
    send,      // batches to other ranks; count: batches
    receive,
    save,      // of the whole run; count: groups
    left_out,  // where spans are not there; count: spans
};

struct TraceSpan {
    std::int64_t start_ns;  // of the steady clock
    std::int64_t end_ns;
    std::uint64_t count;
    TraceKind kind;
    std::uint16_t type = 0;  // of an event, and its LP; where the kind has them
    std::uint32_t lp = 0;
};
static_assert(sizeof(TraceSpan) == 32);

// Spans that each track of a run may have: what a viewer can open is the whole of them.
std::size_t trace_spans_max(std::size_t ranks, std::size_t workers) noexcept;

// A track as a checkpoint and the result of a run carry it: of all pieces of the run, and in the time of
// all of them.
struct NamedTrack {
    std::uint32_t rank = 0;
    std::string name;
    std::vector<TraceSpan> spans;  // a span within another comes before it
};

// Thread: one at a time.
class TraceTrack {
  public:
    using Clock = std::chrono::steady_clock;

    // 0: off.
    explicit TraceTrack(std::size_t spans_max) : spans_max_(spans_max), next_(spans_max / 2) {
        spans_.reserve(spans_max);  // addresses; pages come one by one, where they are used
    }

    bool on() const noexcept { return spans_max_ > 0; }
    // Spans come in the order of their ends.
    void add(TraceKind kind, Clock::time_point start, Clock::time_point end, std::uint64_t count,
             std::uint32_t lp = 0, std::uint16_t type = 0);
    // Goes on with what an earlier piece of the run has left. Requires: nothing was added yet; spans are
    // given in the time of the whole run, of which `before_ns` lie before this piece, and in the order
    // of spans().
    void resume(const std::vector<TraceSpan>& earlier, std::int64_t before_ns);
    // In the order of their ends. Those of earlier pieces have times that are not above 0: so many ns
    // before this piece's event loop. Times of the steady clock are.
    std::vector<TraceSpan> spans() const;

  private:
    static constexpr std::int64_t close_ns = 2'000;        // apart, or less: one span
    static constexpr std::int64_t longest_ns = 1'000'000;  // beyond this a new one begins

    bool extend_last(const TraceSpan& span) noexcept;
    void put(const TraceSpan& span);
    TraceSpan* from_back(std::size_t back) noexcept;  // 1: the last; null: it is not there

    std::size_t spans_max_;
    std::vector<TraceSpan> spans_;
    // When full: where the next one goes, in [spans_max_ / 2, spans_max_). The oldest is there now.
    std::size_t next_;
    std::uint64_t left_out_ = 0;
};

// The parts of one turn: what is marked lasted from the mark before.
class TraceTurn {
  public:
    explicit TraceTurn(TraceTrack& track) : track_(track) {}

    // With the time of this moment, if the caller has just looked.
    void begin(TraceTrack::Clock::time_point now) noexcept { last_ = now; }
    void begin() {
        if (track_.on()) [[unlikely]]
            last_ = TraceTrack::Clock::now();
    }
    // `count` 0: nothing was done; the time belongs to what comes next.
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
