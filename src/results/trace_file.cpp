#include "results/trace_file.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
        case TraceKind::event:
            return {"event", "events"};
        case TraceKind::rollback:
            return {"rollback", "events"};
        case TraceKind::mail:
            return {"mail", "turns"};
        case TraceKind::commit:
            return {"commit", "turns"};
        case TraceKind::idle:
            return {"idle", "turns"};
        case TraceKind::cut:
            return {"GVT cut", "cuts"};
        case TraceKind::handover:
            return {"handover", "groups"};
        case TraceKind::takeover:
            return {"takeover", "groups"};
        case TraceKind::round:
            return {"GVT round", "rounds"};
        case TraceKind::send:
            return {"send", "batches"};
        case TraceKind::receive:
            return {"receive", "batches"};
        case TraceKind::save:
            return {"save", "groups"};
        case TraceKind::left_out:
            return {"left out", "spans"};
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
    std::int64_t origin = first_ns(result) + difference;
    for (const std::string& theirs : ranks.share(std::to_string(origin)))
        origin = std::min<std::int64_t>(origin, std::stoll(theirs));
    return origin - difference;
}

std::string json_text(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// One rank's part of the file, given away in pieces of whole events, each of which ends in ",\n".
//
// Processes and threads are numbered from 1: to Perfetto 0 is the kernel's, and it shows none of it.
template <class Give>
class RankPart {
  public:
    RankPart(std::uint32_t rank, const RunResult& result, const LpKinds& kinds, std::int64_t origin,
             Give& give)
        : process_(rank + 1), result_(result), kinds_(kinds), origin_(origin), give_(give) {
        // Ranks are shown in their order.
        emit(R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":"rank {1}"}}}},)"
             "\n"
             R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{1}}}}},)"
             "\n",
             process_, rank);
        std::uint32_t thread = 0;
        for (const NamedTrack& track : result.trace) emit_track(++thread, track);
        if (rank == 0) emit_course();
        emit_placement();
        if (!text_.empty()) give_(text_);
    }

  private:
    template <class... Values>
    void emit(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
        if (text_.size() < part_bytes) return;
        give_(text_);
        text_.clear();
    }

    // Of the whole run: where it has gone on from another, that one's time comes before.
    double us(std::int64_t ns) const {
        return result_.wall_seconds_before * 1e6 + static_cast<double>(ns - origin_) / 1000;
    }

    void emit_track(std::uint32_t thread, const NamedTrack& track) {
        emit(
            R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_name","args":{{"name":"{2}"}}}},)"
            "\n"
            R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}},)"
            "\n",
            process_, thread, track.name);
        // Viewers nest spans by where they stand, where two begin at once: the outer one first.
        std::vector<TraceSpan> spans = track.spans;
        std::stable_sort(spans.begin(), spans.end(), [](const TraceSpan& a, const TraceSpan& b) {
            return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
        });
        for (const TraceSpan& span : spans) {
            const KindWords words = words_for(span.kind);
            const bool is_event = span.kind == TraceKind::event;
            emit(
                R"({{"ph":"X","pid":{},"tid":{},"name":{},"ts":{:.3f},"dur":{:.3f},"args":{{"{}":{}{}}}}},)"
                "\n",
                process_, thread, is_event ? name_of(span).type : fmt::format("\"{}\"", words.name),
                us(span.start_ns), static_cast<double>(span.end_ns - span.start_ns) / 1000,
                words.count, span.count, whose(span));
        }
    }

    // Of an event and its LP, as JSON.
    struct EventName {
        std::string type, lp;
    };

    const EventName& name_of(const TraceSpan& span) {
        const auto [known, is_new] = events_.try_emplace({span.lp, span.type});
        if (is_new)
            known->second = {json_text(kinds_.type_name(span.lp, span.type)),
                             json_text(kinds_.name(span.lp))};
        return known->second;
    }

    // Further arguments of spans that are of an event.
    std::string whose(const TraceSpan& span) {
        if (span.kind == TraceKind::event) return ",\"lp\":" + name_of(span).lp;
        if (span.kind != TraceKind::rollback) return {};
        return fmt::format(R"(,"from":{},"lp":{})", name_of(span).type, name_of(span).lp);
    }

    void emit_counter(std::string_view name, double seconds, std::string_view unit, double value) {
        // An infinite GVT is no JSON.
        if (!std::isfinite(value)) return;
        emit(R"({{"ph":"C","pid":{},"name":"{}","ts":{:.3f},"args":{{"{}":{:.6g}}}}},)"
             "\n",
             process_, name, us(first_ns_) + seconds * 1e6, unit, value);
    }

    // Over all ranks, as the first knows it: also of the time for which spans are left out, and of earlier
    // processes.
    void emit_course() {
        const std::vector<RunSample>& samples = result_.history;
        // Since this process began; a counter holds from its time on.
        const auto seconds = [&](std::size_t i) {
            return samples[i].seconds - result_.wall_seconds_before;
        };
        for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
            const RunSample& from = samples[i];
            const RunSample& to = samples[i + 1];
            const auto executed = static_cast<double>(to.executed_events - from.executed_events);
            const auto undone =
                static_cast<double>(to.rolled_back_events - from.rolled_back_events);
            const auto committed = static_cast<double>(to.committed_events - from.committed_events);
            emit_counter("GVT", seconds(i), "virtual time", from.gvt);
            emit_counter("committed events a second", seconds(i), "events",
                         committed / (to.seconds - from.seconds));
            if (executed > 0)
                emit_counter("efficiency", seconds(i), "share",
                             std::clamp(1 - undone / executed, 0.0, 1.0));
        }
        if (!samples.empty())
            emit_counter("GVT", seconds(samples.size() - 1), "virtual time", samples.back().gvt);
    }

    void emit_placement() {
        for (const PlacementSample& sample : result_.numa.history) {
            emit_counter("pages moved", sample.seconds, "pages",
                         static_cast<double>(sample.pages_moved));
            emit_counter("remote pages", sample.seconds, "share", sample.remote_page_share);
        }
    }

    const std::uint32_t process_;
    const RunResult& result_;
    const LpKinds& kinds_;
    const std::int64_t origin_;
    const std::int64_t first_ns_ = first_ns(result_);  // the event loop begins with a span
    Give& give_;
    std::map<std::pair<std::uint32_t, EventType>, EventName> events_;  // by LP and type
    std::string text_;
};

}  // namespace

void write_trace(RankGroup& ranks, WholeFile* file, const RunResult& result, const LpKinds& kinds) {
    const std::int64_t origin = common_origin_ns(ranks, result);
    if (!ranks.is_first()) {
        const auto send = [&](const std::string& text) { ranks.send(RankId{0}, text); };
        RankPart(index(ranks.rank()), result, kinds, origin, send);
        send({});  // the end
        return;
    }
    // The others wait until what they send is taken, also where it cannot be written.
    std::exception_ptr trouble;
    const auto write = [&](std::string_view text) {
        if (trouble) return;
        try {
            file->append(text);
        } catch (const MachineError&) {
            trouble = std::current_exception();
        }
    };
    write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    RankPart(0, result, kinds, origin, write);
    for (std::uint32_t r = 1; r < ranks.ranks(); ++r)
        for (std::string text = ranks.receive(RankId{r}); !text.empty();
             text = ranks.receive(RankId{r}))
            write(text);
    // No comma behind the last one.
    write(R"({"ph":"M","pid":1,"name":"process_labels","args":{"labels":"numawarp"}})"
          "\n]}\n");
    if (trouble) std::rethrow_exception(trouble);
    file->complete();
}

}  // namespace nw
