// --trace: what each thread did when, for the eye. Every thread of interest writes a track of spans of
// its own; they are turned into a file when the run is over (main/trace_file.hpp).
//
// Spans that follow each other closely and are alike become one: batches of 128 events, thousands a
// second, say nothing singly. A track is bounded; when it is full every later span is dropped, and
// counted.
//
// Cost: two looks at the clock (25 ns each) for each part of a turn when on, a branch when off.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nw {

enum class TraceKind : std::uint8_t {
    execute,   // count: events
    rollback,  // count: events undone; lies within execute, or within mail
    mail,      // draining bottom halves
    commit,
    idle,
    handover,  // count: groups that leave
    round,     // of GVT, from its opening to its result
    send,      // batches to other ranks; count: batches
    receive,
};

struct TraceSpan {
    std::int64_t start_ns;  // of the steady clock
    std::int64_t end_ns;
    std::uint64_t count;
    TraceKind kind;
};

// Thread: one at a time.
class TraceTrack {
  public:
    using Clock = std::chrono::steady_clock;

    explicit TraceTrack(bool on) : on_(on) {}

    bool on() const noexcept { return on_; }
    void add(TraceKind kind, Clock::time_point start, Clock::time_point end, std::uint64_t count);
    const std::vector<TraceSpan>& spans() const noexcept { return spans_; }
    std::uint64_t dropped() const noexcept { return dropped_; }

  private:
    static constexpr std::size_t spans_max = std::size_t{1} << 20;
    static constexpr std::int64_t close_ns = 2'000;        // apart, or less: one span
    static constexpr std::int64_t longest_ns = 1'000'000;  // beyond this a new one begins

    bool on_;
    std::vector<TraceSpan> spans_;
    std::uint64_t dropped_ = 0;
};

// The parts of one turn: what is marked lasted from the mark before.
class TraceTurn {
  public:
    explicit TraceTurn(TraceTrack& track) : track_(track) {}

    void begin() {
        if (track_.on()) [[unlikely]]
            last_ = TraceTrack::Clock::now();
    }
    // `count` 0: nothing was done; the time belongs to what comes next.
    void mark(TraceKind kind, std::uint64_t count) {
        if (!track_.on() || count == 0) [[likely]]
            return;
        const auto now = TraceTrack::Clock::now();
        track_.add(kind, last_, now, count);
        last_ = now;
    }

  private:
    TraceTrack& track_;
    TraceTrack::Clock::time_point last_{};
};

// A track that is finished, as the result of a run carries it.
struct NamedTrack {
    std::uint32_t thread = 0;
    std::string name;
    std::vector<TraceSpan> spans;
    std::uint64_t dropped = 0;
};

}  // namespace nw
