// SPDX-License-Identifier: Apache-2.0
#include "app/report/trace_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "util/check.hpp"

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

std::string json_text(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Generates one rank's part of the file. Calls `give` with texts that consist of complete events,
// each of which ends with ",\n".
//
// Processes and threads are numbered from 1, because Perfetto reserves the number 0 for the kernel
// and does not show a process or thread with this number.
template <class Give>
class RankPart {
  public:
    RankPart(std::uint32_t rank, const RunResult& result, const LpKinds& kinds, Give& give)
        : process_(rank + 1), result_(result), kinds_(kinds), give_(give) {
        // A run that was continued from a checkpoint also has the tracks of earlier processes. The
        // earlier processes may have had more ranks.
        std::map<std::uint32_t, std::uint32_t> threads;  // number of threads of each rank
        for (const NamedTrack& track : result.trace) {
            std::uint32_t& thread = threads[track.rank];
            if (thread == 0) emit_process(track.rank);
            emit_track(track, ++thread);
        }
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

    static double us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

    // Makes the viewer sort the ranks by their numbers.
    void emit_process(std::uint32_t rank) {
        emit(R"({{"ph":"M","pid":{0},"name":"process_name","args":{{"name":"rank {1}"}}}},)"
             "\n"
             R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{1}}}}},)"
             "\n",
             rank + 1, rank);
    }

    void emit_track(const NamedTrack& track, std::uint32_t thread) {
        const std::uint32_t process = track.rank + 1;
        emit(
            R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_name","args":{{"name":"{2}"}}}},)"
            "\n"
            R"({{"ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}}}},)"
            "\n",
            process, thread, track.name);
        // If two spans begin at the same time, viewers nest them in the order of the file: the
        // outer span first.
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
                process, thread, is_event ? name_of(span).type : fmt::format("\"{}\"", words.name),
                us(span.start_ns), us(span.end_ns - span.start_ns), words.count, span.count,
                whose(span));
        }
    }

    // The names of an event type and of an LP as JSON texts.
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

    // Further arguments of spans that belong to an event.
    std::string whose(const TraceSpan& span) {
        if (span.kind == TraceKind::event) return ",\"lp\":" + name_of(span).lp;
        if (span.kind != TraceKind::rollback) return {};
        return fmt::format(R"(,"from":{},"lp":{})", name_of(span).type, name_of(span).lp);
    }

    void emit_counter(std::string_view name, double seconds, std::string_view unit, double value) {
        // JSON cannot represent an infinite GVT.
        if (!std::isfinite(value)) return;
        emit(R"({{"ph":"C","pid":{},"name":"{}","ts":{:.3f},"args":{{"{}":{:.6g}}}}},)"
             "\n",
             process_, name, seconds * 1e6, unit, value);
    }

    // Writes counters for the whole run, over all ranks, from the first rank's samples. The
    // counters also cover the time for which spans were left out. A value of a counter is valid
    // until the next value.
    void emit_course() {
        const std::vector<RunSample>& samples = result_.history;
        for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
            const RunSample& from = samples[i];
            const RunSample& to = samples[i + 1];
            const auto executed = static_cast<double>(to.executed_events - from.executed_events);
            const auto undone =
                static_cast<double>(to.rolled_back_events - from.rolled_back_events);
            const auto committed = static_cast<double>(to.committed_events - from.committed_events);
            emit_counter("GVT", from.seconds, "virtual time", from.gvt);
            emit_counter("committed events a second", from.seconds, "events",
                         committed / (to.seconds - from.seconds));
            if (executed > 0)
                emit_counter("efficiency", from.seconds, "share",
                             std::clamp(1 - undone / executed, 0.0, 1.0));
        }
        if (!samples.empty())
            emit_counter("GVT", samples.back().seconds, "virtual time", samples.back().gvt);
    }

    void emit_placement() {
        for (const PlacementSample& sample : result_.numa.history) {
            const double seconds = result_.wall_seconds_before + sample.seconds;
            emit_counter("pages moved", seconds, "pages", static_cast<double>(sample.pages_moved));
            emit_counter("remote pages", seconds, "share", sample.remote_page_share);
        }
    }

    const std::uint32_t process_;
    const RunResult& result_;
    const LpKinds& kinds_;
    Give& give_;
    std::map<std::pair<std::uint32_t, EventType>, EventName> events_;  // by LP and type
    std::string text_;
};

}  // namespace

void write_trace(RankGroup& ranks, WholeFile* file, const RunResult& result, const LpKinds& kinds) {
    if (!ranks.is_first()) {
        const auto send = [&](const std::string& text) { ranks.send(RankId{0}, text); };
        RankPart(index(ranks.rank()), result, kinds, send);
        send({});  // marks the end
        return;
    }
    // After a failure continue to receive, because the other ranks wait until their texts are
    // received.
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
    RankPart(0, result, kinds, write);
    for (std::uint32_t r = 1; r < ranks.ranks(); ++r)
        for (std::string text = ranks.receive(RankId{r}); !text.empty();
             text = ranks.receive(RankId{r}))
            write(text);
    // This last event has no comma after it.
    write(R"({"ph":"M","pid":1,"name":"process_labels","args":{"labels":"numawarp"}})"
          "\n]}\n");
    if (trouble) std::rethrow_exception(trouble);
    file->complete();
}

}  // namespace nw
