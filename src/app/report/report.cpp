// SPDX-License-Identifier: Apache-2.0
#include "app/report/report.hpp"

#include <csignal>

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "app/report/report_numa.hpp"
#include "lp/rollback_methods.hpp"
#include "util/number_text.hpp"

namespace nw {

namespace {

// Without --verbose, the table of workers ends after this number of workers.
constexpr std::size_t workers_shown = 8;

using Lines = std::back_insert_iterator<std::string>;

template <class... Values>
void line(Lines out, std::string_view label, fmt::format_string<Values...> format,
          Values&&... values) {
    fmt::format_to(out, "  {:<14}", label);
    fmt::format_to(out, format, std::forward<Values>(values)...);
    fmt::format_to(out, "\n");
}

std::string_view end_of(const RunResult& result) {
    switch (result.reason) {
        case EndReason::until:
            return "the end time was reached";
        case EndReason::no_events:
            return "no events were left";
        case EndReason::all_can_end:
            return "all LPs can end";
        case EndReason::interrupted:
            switch (result.signal) {
                case SIGTERM:
                    return "interrupted by SIGTERM";
                case SIGUSR1:
                    return "interrupted by SIGUSR1";
                case SIGHUP:
                    return "interrupted by SIGHUP";
                default:
                    return "interrupted by SIGINT";
            }
    }
    return "?";
}

// The rollback method; if it differs between the kinds of LPs, the method of each kind.
std::string rollback_words(const RunResult& result) {
    const auto& kinds = result.kinds;
    if (std::all_of(kinds.begin(), kinds.end(),
                    [&](const KindReport& kind) { return kind.rollback == result.rollback; }))
        return std::string(method_of(result.rollback).word);
    std::string words;
    for (const KindReport& kind : kinds)
        words += fmt::format("{}{} ({})", words.empty() ? "" : ", ", method_of(kind.rollback).word,
                             kind.kind);
    return words;
}

// Writes a line, unless the text is empty.
void line_if_any(Lines out, std::string_view label, const std::string& text) {
    if (!text.empty()) line(out, label, "{}", text);
}

void write_what_ran(Lines out, const RunFacts& facts) {
    const RunResult& result = facts.result;
    const EngineKind engine = result.engine;
    fmt::format_to(out, "{}: {}\n", facts.model.name(), end_of(result));
    line(out, "engine", "{}, {} x {}, seed {}", word_for(engine), plural(result.ranks, "rank"),
         plural(facts.workers_per_rank(), "worker"), facts.settings.config.seed);
    line_if_any(out, "chosen", result.engine_reason);
    if (engine == EngineKind::timewarp)
        line(out, "LPs", "{} in {}, rollback by {}", with_thousands(result.lps),
             plural(result.groups, "group"), rollback_words(result));
    else
        line(out, "LPs", "{} in {}", with_thousands(result.lps), plural(result.groups, "group"));
    line(out, "virtual time", "{} of {}", virtual_time_text(result.end_time),
         virtual_time_text(result.until));
}

void write_speed(Lines out, const RunFacts& facts) {
    const RunResult& result = facts.result;
    line(out, "events", "{} committed", with_thousands(facts.count(Counter::committed_events)));
    line(out, "wall time", "{} (set-up {})", duration_text(result.wall_seconds),
         duration_text(result.setup_seconds));
    line(out, "speed", "{} events/s", count_text(facts.events_per_second()));
}

void write_time_warp(Lines out, const RunFacts& facts) {
    const std::uint64_t rollbacks = facts.count(Counter::rollbacks);
    const std::uint64_t undone = facts.count(Counter::rolled_back_events);
    const double length =
        rollbacks > 0 ? static_cast<double>(undone) / static_cast<double>(rollbacks) : 0;
    line(out, "efficiency", "{} ({} executed, {} rolled back)",
         share_text(efficiency_of(facts.result.totals)),
         with_thousands(facts.count(Counter::executed_events)), with_thousands(undone));
    line(out, "rollbacks", "{}, of {:.1f} events on average; {}", with_thousands(rollbacks), length,
         plural(facts.count(Counter::anti_messages), "anti-message"));
    line(out, "saved states", "{}", with_thousands(facts.count(Counter::saved_states)));
    line(out, "GVT", "{}, one in {}", plural(facts.count(Counter::gvt_rounds), "round"),
         duration_text(facts.result.wall_seconds / static_cast<double>(std::max<std::uint64_t>(
                                                       1, facts.count(Counter::gvt_rounds)))));
}

void write_kinds(Lines out, const RunResult& result) {
    if (!result.kinds.empty()) {
        fmt::format_to(out, "  {:<20} {:>9} {:>15} {:>15} {:>10}\n", "kind", "LPs", "committed",
                       "rolled back", "state");
        for (const KindReport& kind : result.kinds)
            fmt::format_to(out, "  {:<20} {:>9} {:>15} {:>15} {:>10}\n", kind.kind,
                           with_thousands(kind.lps), with_thousands(kind.committed),
                           with_thousands(kind.rolled_back), bytes_text(kind.state_bytes));
    }
    if (!result.event_types.empty()) {
        fmt::format_to(out, "  {:<20} {:>9} {:>15} {:>15}\n", "event", "mean time", "committed",
                       "rolled back");
        for (const EventReport& event : result.event_types) {
            const EventFigures& figures = event.figures;
            const std::string mean =
                figures.timed > 0 ? duration_text(1e-9 * static_cast<double>(figures.nanoseconds) /
                                                  static_cast<double>(figures.timed))
                                  : "-";
            fmt::format_to(out, "  {:<20} {:>9} {:>15} {:>15}\n",
                           result.kinds.empty() ? event.event : event.kind + " " + event.event,
                           mean, with_thousands(figures.committed),
                           with_thousands(figures.rolled_back));
        }
    }
}

void write_workers(Lines out, const RunFacts& facts) {
    const auto& workers = facts.result.workers;
    // The figures of workers begin with this process, which may have continued the run of an
    // earlier process.
    const double wall_seconds = facts.result.wall_seconds - facts.result.wall_seconds_before;
    const std::size_t shown =
        facts.settings.verbose ? workers.size() : std::min(workers.size(), workers_shown);
    // With one rank the column of ranks is omitted.
    const auto rank_column = [&](std::string_view text) {
        return facts.result.ranks > 1 ? fmt::format("  {:>5}", text) : std::string();
    };
    fmt::format_to(out, "{}  {:>6} {:>5} {:>5} {:>9} {:>15} {:>10} {:>7}\n", rank_column("rank"),
                   "worker", "core", "node", "LPs", "committed", "efficiency", "busy");
    const auto number_or_dash = [](int number) {
        return number < 0 ? std::string("-") : fmt::format("{}", number);
    };
    for (std::size_t i = 0; i < shown; ++i) {
        const WorkerReport& worker = workers[i];
        fmt::format_to(out, "{}  {:>6} {:>5} {:>5} {:>9} {:>15} {:>10} {:>7}\n",
                       rank_column(std::to_string(worker.rank)), i % facts.workers_per_rank(),
                       number_or_dash(worker.core), number_or_dash(worker.node),
                       with_thousands(worker.lps),
                       with_thousands(worker.counters[Counter::committed_events]),
                       share_text(worker_efficiency_of(worker.counters)),
                       share_text(worker.busy_seconds / wall_seconds));
    }
    if (shown < workers.size())
        fmt::format_to(out, "  and {} more (--verbose shows them)\n", workers.size() - shown);
}

// The measures that the model defines.
void write_measures(Lines out, const MeasureSums& measures) {
    if (measures.size() == 0) return;
    std::size_t width = std::string_view("measure").size();
    for (std::size_t i = 0; i < measures.size(); ++i)
        width = std::max(width, measures.name(i).size());
    const auto number = [](double value) {
        return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string("-");
    };
    fmt::format_to(out, "  {:<{}}  {:<12} {:>13} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n",
                   "measure", width, "of", "count", "mean", "deviation", "min", "p50", "p95",
                   "max");
    for (std::size_t i = 0; i < measures.size(); ++i) {
        const MeasureFigures figures = measures.figures(i);
        const auto quantile = [&](double share) {
            for (const MeasureFigures::Quantile& one : figures.quantiles)
                if (one.share == share) return fmt::format("{:.4g}", one.value);
            return std::string("-");
        };
        fmt::format_to(out, "  {:<{}}  {:<12} {:>13} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n",
                       measures.name(i), width, word_for(figures.kind),
                       with_thousands(figures.count), number(figures.mean),
                       number(figures.deviation), number(figures.least), quantile(0.5),
                       quantile(0.95), number(figures.most));
    }
}

// Writes a line for each figure that is a sum, and for each part of a figure with several parts.
// Arrays are shown only in the statistics.
struct FigureLines {
    Lines out;

    void operator()(const FigureInfo& info, combine::Sum, std::uint64_t number) {
        write(full_name(info), number, info.unit, info.meaning);
    }
    template <has_members T>
    void operator()(const FigureInfo& info, combine::Sum, const T& figure) {
        figure.visit([&](const char* name, std::uint64_t number) {
            write(fmt::format("{}.{}", full_name(info), name), number, "", "");
        });
    }
    void operator()(const auto&, auto, const auto&) {}

    void write(std::string_view name, std::uint64_t number, std::string_view unit,
               std::string_view meaning) {
        fmt::format_to(out, "  {:<30} {:>18} {:<10} {}\n", name, with_thousands(number), unit,
                       meaning);
    }
};

// The counted hardware events per committed event.
std::string hardware_line(const RunFacts& facts) {
    std::string text;
    for (std::size_t i = 0; i < hardware_counter_count; ++i)
        if (const std::optional<double> number = facts.hardware_an_event(i))
            text += fmt::format("{}{:.4g} {}", text.empty() ? "" : ", ", *number,
                                hardware_table[i].name);
    return text;
}

std::string saving_line(const SavingReport& saving) {
    if (saving.written == 0) return {};
    return fmt::format("{} ({} at virtual time {}); execution paused for {}",
                       plural(saving.written, "checkpoint"), bytes_text(saving.bytes),
                       virtual_time_text(*saving.saved_at), duration_text(saving.seconds));
}

std::string restart_line(const SavingReport& saving) {
    if (!saving.restarted_at) return {};
    return fmt::format("from virtual time {}; counts and times cover the whole run ({})",
                       virtual_time_text(*saving.restarted_at),
                       plural(saving.pieces.size(), "piece"));
}

}  // namespace

std::string report_text(const RunFacts& facts) {
    std::string text;
    const Lines out(text);
    const RunResult& result = facts.result;
    write_what_ran(out, facts);
    text += topology_table(facts);
    write_speed(out, facts);
    if (result.engine == EngineKind::timewarp) write_time_warp(out, facts);
    line_if_any(out, "per event", hardware_line(facts));
    line(out, "memory", "{} at most; {} in segments, {} in saved states",
         bytes_text(result.resident_peak_bytes), bytes_text(result.segments_bytes),
         bytes_text(facts.count(Counter::saved_states_bytes_peak)));
    line_if_any(out, "by kind", memory_kinds_line(facts));
    line_if_any(out, "placement", placement_line(facts));
    line_if_any(out, "placed", placed_line(facts));
    line_if_any(out, "pagemigd", pagemigd_line(facts));
    line_if_any(out, "rebinding", rebinding_line(facts));
    line_if_any(out, "run saved", saving_line(result.saving));
    line_if_any(out, "restarted", restart_line(result.saving));
    line(out, "digest", "{}", result.digest.hex());
    if (!facts.settings.config.output_directory.empty())
        line(out, "output", "{}", facts.settings.config.output_directory);
    if (!facts.settings.stats_file.empty())
        line(out, "statistics", "{}", facts.settings.stats_file);
    if (!facts.settings.trace_file.empty()) line(out, "trace", "{}", facts.settings.trace_file);
    text += placement_table(facts);
    write_kinds(out, result);
    write_workers(out, facts);
    write_measures(out, result.measures);
    if (facts.settings.verbose) visit_figures(FigureLines{out}, result);
    for (const std::string& notice : result.notices) fmt::format_to(out, "  notice: {}\n", notice);
    return text;
}

}  // namespace nw
