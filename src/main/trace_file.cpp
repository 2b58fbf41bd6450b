#include "main/trace_file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/check.hpp"

namespace nw {

namespace {

constexpr std::size_t part_bytes = std::size_t{1} << 20;

struct KindWords {
    std::string_view name;
    std::string_view count;
};

KindWords words_for(TraceKind kind) noexcept {
    switch (kind) {
        case TraceKind::execute:
            return {"execute", "events"};
        case TraceKind::rollback:
            return {"rollback", "events"};
        case TraceKind::mail:
            return {"mail", "turns"};
        case TraceKind::commit:
            return {"commit", "turns"};
        case TraceKind::idle:
            return {"idle", "turns"};
        case TraceKind::handover:
            return {"handover", "groups"};
        case TraceKind::round:
            return {"GVT round", "rounds"};
        case TraceKind::send:
            return {"send", "batches"};
        case TraceKind::receive:
            return {"receive", "batches"};
    }
    return {"?", "?"};
}

// Tracks are in the time of the steady clock, which is each host's own; between hosts there is only
// the system's.
std::int64_t system_less_steady_ns() {
    const auto ns = [](auto time) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch())
            .count();
    };
    return ns(std::chrono::system_clock::now()) - ns(std::chrono::steady_clock::now());
}

std::int64_t first_ns(const RunResult& result) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const NamedTrack& track : result.trace)
        for (const TraceSpan& span : track.spans) first = std::min(first, span.start_ns);
    return first;
}

// The beginning of the trace on this rank's steady clock: the first span of all ranks.
std::int64_t common_origin_ns(RankGroup& ranks, const RunResult& result) {
    const std::int64_t difference = system_less_steady_ns();
    const std::int64_t own = first_ns(result);
    std::int64_t origin = own + difference;
    for (const std::string& theirs : ranks.share(std::to_string(origin)))
        origin = std::min<std::int64_t>(origin, std::stoll(theirs));
    return origin - difference;
}

// Calls part(text) with pieces of about part_bytes, each of whole events that end in ",\n".
template <class Part>
void format_rank(std::uint32_t rank, const RunResult& result, std::int64_t origin, Part&& part) {
    std::string text =
        fmt::format(R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":"rank {0}"}}}},)"
                    "\n",
                    rank);
    const auto emit = [&](std::string event) {
        text += event;
        if (text.size() < part_bytes) return;
        part(text);
        text.clear();
    };
    const auto us = [&](std::int64_t ns) { return static_cast<double>(ns - origin) / 1000; };
    for (const NamedTrack& track : result.trace) {
        emit(fmt::format(
            R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}},)"
            "\n",
            rank, track.thread, track.name));
        for (const TraceSpan& span : track.spans) {
            const KindWords words = words_for(span.kind);
            emit(fmt::format(
                R"({{"ph":"X","pid":{},"tid":{},"name":"{}","ts":{:.3f},"dur":{:.3f},"args":{{"{}":{}}}}},)"
                "\n",
                rank, track.thread, words.name, us(span.start_ns),
                static_cast<double>(span.end_ns - span.start_ns) / 1000, words.count, span.count));
        }
        if (track.dropped > 0)
            emit(fmt::format(
                R"({{"ph":"i","s":"t","pid":{},"tid":{},"name":"full: {} later spans dropped","ts":{:.3f}}},)"
                "\n",
                rank, track.thread, track.dropped, us(track.spans.back().end_ns)));
    }
    const double begin_us = us(first_ns(result));
    for (const PlacementSample& sample : result.numa.history) {
        const double sample_us = begin_us + sample.seconds * 1e6;
        emit(fmt::format(
            R"({{"ph":"C","pid":{},"name":"pages moved","ts":{:.3f},"args":{{"pages":{}}}}},)"
            "\n"
            R"({{"ph":"C","pid":{},"name":"remote pages","ts":{:.3f},"args":{{"share":{}}}}},)"
            "\n",
            rank, sample_us, sample.pages_moved, rank, sample_us, sample.remote_page_share));
    }
    if (!text.empty()) part(text);  // an empty part is the end, to the first rank
}

}  // namespace

void write_trace(RankGroup& ranks, const std::string& path, const RunResult& result) {
    const std::int64_t origin = common_origin_ns(ranks, result);
    if (!ranks.is_first()) {
        format_rank(index(ranks.rank()), result, origin,
                    [&](const std::string& text) { ranks.send(RankId{0}, text); });
        ranks.send(RankId{0}, {});
        return;
    }
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    format_rank(0, result, origin, [&](const std::string& text) { file << text; });
    for (std::uint32_t r = 1; r < ranks.ranks(); ++r)
        for (std::string text = ranks.receive(RankId{r}); !text.empty();
             text = ranks.receive(RankId{r}))
            file << text;
    // No comma behind the last one.
    file << R"({"ph":"M","pid":0,"name":"process_sort_index","args":{"sort_index":0}})"
            "\n]}\n";
    file.flush();
    if (!file.good())
        throw MachineError(fmt::format("--trace {}: writing failed; is the disk full?", path));
}

}  // namespace nw
