#include "engine/trace.hpp"

namespace nw {

void TraceTrack::add(TraceKind kind, Clock::time_point start, Clock::time_point end,
                     std::uint64_t count) {
    const auto ns = [](Clock::time_point time) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch())
            .count();
    };
    const std::int64_t start_ns = ns(start), end_ns = ns(end);
    // Spans within others come before these, which are added when they end.
    if (kind != TraceKind::rollback && kind != TraceKind::round) {
        for (std::size_t back = 1; back <= spans_.size() && back <= 4; ++back) {
            TraceSpan& last = spans_[spans_.size() - back];
            if (start_ns - last.end_ns > close_ns) break;
            if (last.kind != kind) {
                if (last.kind == TraceKind::rollback) continue;
                break;
            }
            if (end_ns - last.start_ns > longest_ns) break;
            last.end_ns = end_ns;
            last.count += count;
            return;
        }
    }
    if (spans_.size() == spans_max) {
        ++dropped_;
        return;
    }
    spans_.push_back({start_ns, end_ns, count, kind});
}

}  // namespace nw
