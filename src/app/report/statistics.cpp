// SPDX-License-Identifier: Apache-2.0
#include "app/report/statistics.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/machine_facts.hpp"
#include "lp/rollback_methods.hpp"
#include "util/version.hpp"

namespace nw {

namespace {

using Json = nlohmann::ordered_json;

std::string_view word_for(EndReason reason) noexcept {
    switch (reason) {
        case EndReason::until:
            return "until";
        case EndReason::no_events:
            return "no_events";
        case EndReason::all_can_end:
            return "all_can_end";
        case EndReason::interrupted:
            return "interrupted";
    }
    return "?";
}

// Converts a figure to JSON. Numbers and texts are unchanged; infinite and missing values become
// null. A vector becomes an array, and a type with members an object.
template <class T>
Json json_of(const T& value);
template <class T>
Json json_of(const std::vector<T>& values);

Json json_of(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }
Json json_of(Rollback rollback) { return method_of(rollback).word; }
Json json_of(EndReason reason) { return word_for(reason); }
Json json_of(const Digest& digest) { return digest.hex(); }
Json json_of(const RollbackLengths& lengths) { return json_of(lengths.rows()); }

template <class T>
Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json(nullptr);
}

template <class T>
Json json_of(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(json_of(value));
    return array;
}

Json json_of_quantiles(const MeasureFigures& figures) {
    if (figures.quantiles.empty()) return nullptr;
    Json json = Json::object();
    for (const MeasureFigures::Quantile& quantile : figures.quantiles)
        json[name_of(quantile)] = quantile.value;
    json["error"] = figures.quantile_error;
    return json;
}

Json json_of(const MeasureSums& measures) {
    Json object = Json::object();
    for (std::size_t i = 0; i < measures.size(); ++i) {
        const MeasureFigures figures = measures.figures(i);
        Json& json = object[measures.name(i)];
        json = {{"kind", nw::word_for(figures.kind)},
                {"lps", figures.lps},
                {"count", figures.count},
                {"mean", json_of(figures.mean)},
                {"deviation", json_of(figures.deviation)},
                {"min", json_of(figures.least)},
                {"max", json_of(figures.most)},
                {"quantiles", json_of_quantiles(figures)}};
        if (figures.kind == FigureKind::histogram) {
            json["low"] = figures.low;
            json["high"] = figures.high;
            json["bins"] = figures.bins;
        }
        if (!measures.has_intervals()) continue;
        json["intervals"] = Json::array();
        for (const auto& [from, to, of] : measures.intervals_of(i)) {
            Json& interval = json["intervals"].emplace_back(
                Json{{"from", from}, {"to", to}, {"count", of.count}});
            interval["mean"] = json_of(of.mean);
            interval["deviation"] = json_of(of.deviation);
            interval["quantiles"] = json_of_quantiles(of);
            if (of.kind == FigureKind::histogram) interval["bins"] = of.bins;
        }
    }
    return object;
}

template <class T>
Json json_of(const T& value) {
    if constexpr (has_members<T>) {
        Json object = Json::object();
        value.visit([&](const char* name, const auto& member) { object[name] = json_of(member); });
        return object;
    } else {
        return value;
    }
}

// The options in force. If an option left a value to the engine, the engine's choice is shown.
Json options_used(const RunFacts& facts) {
    Json options = Json::object();
    const RunShape shape = facts.shape();
    for (const OptionSpec& spec : facts.options.specs()) {
        if (!spec.is_setting()) continue;
        // Options without effect are null, because a reader assumes that the listed options were in
        // force.
        const bool is_idle = !facts.options.why_idle(spec, shape).empty();
        options[spec.name] = spec.chosen ? spec.chosen(shape)
                             : is_idle   ? nlohmann::json(nullptr)
                                         : spec.value();
    }
    return options;
}

Json workers_detail(const RunFacts& facts) {
    Json workers = Json::array();
    for (const WorkerReport& report : facts.result.workers) {
        Json worker = json_of(report);
        worker["efficiency"] = worker_efficiency_of(report.counters);
        for (std::size_t i = 0; i < counter_count; ++i)
            worker[std::string(counter_table[i].name)] = report.counters[Counter{i}];
        workers.push_back(std::move(worker));
    }
    return workers;
}

Json topology(const RunFacts& facts) {
    Json nodes = Json::array();
    for (const NodeInfo& info : facts.result.numa.nodes)
        nodes.push_back({{"node", index(info.node)},
                         {"cores", info.cores},
                         {"cpus", info.cpus},
                         {"total_bytes", info.total_bytes},
                         {"free_bytes", info.free_bytes},
                         {"distances", info.distances}});
    return nodes;
}

Json placement(const RunFacts& facts) {
    const auto& report = facts.result.numa.placement;
    if (!report) return nullptr;
    Json kinds = Json::object();
    for (const PageKind kind : {PageKind::state, PageKind::platform, PageKind::mail}) {
        const PagePlacement& pages = report->of(kind);
        Json by_node = Json::array();
        for (const NodeInfo& info : facts.result.numa.nodes)
            by_node.push_back(pages.resident_bytes(info.node));
        kinds[name_of(kind)] = {{"resident_bytes", pages.resident_bytes()},
                                {"remote_share", pages.remote_share()},
                                {"bytes_by_node", std::move(by_node)}};
    }
    return kinds;
}

Json remote_page_share(const RunFacts& facts) {
    const auto& report = facts.result.numa.placement;
    return report ? Json(report->remote_share()) : Json(nullptr);
}

Json pagemigd(const RunFacts& facts) {
    const PagemigdReport& report = facts.result.numa.pagemigd;
    return {{"threads", report.threads},
            {"period_seconds", report.period_seconds},
            {"passes", report.figures.passes},
            {"busy_seconds", static_cast<double>(report.figures.busy_ns) / 1e9}};
}

Json hardware_an_event(const RunFacts& facts) {
    Json figures = Json::object();
    for (std::size_t i = 0; i < hardware_counter_count; ++i)
        figures[std::string(hardware_table[i].name)] = json_of(facts.hardware_an_event(i));
    return figures;
}

Json machine(const RunFacts&) {
    const MachineFacts facts = machine_facts();
    return {{"cpu", facts.cpu},
            {"cpus", facts.cpus},
            {"kernel", facts.kernel},
            {"compiler", facts.compiler}};
}

// A value that is not stored in the result, but computed from several of its figures, from options,
// or from facts about this program and machine.
struct Field {
    FigureInfo info;
    Json (*value)(const RunFacts&);
};

constexpr Field fields_before_figures[] = {
    {{"schema", "text", "", "name and number of this format"},
     [](const RunFacts&) { return Json("numawarp.stats/2"); }},
    {{"version", "text", "", "numawarp's version"}, [](const RunFacts&) { return Json(version); }},
    {{"commit", "text", "", "the commit that numawarp was built from"},
     [](const RunFacts&) { return Json(built_commit); }},
    {{"date", "text", "", "end of the run, in UTC"},
     [](const RunFacts&) { return Json(date_now()); }},
    {{"machine", "object", "",
      "of rank 0: cpu (its name), cpus (hardware threads that this process may use: the smaller of "
      "its CPU affinity and its control group's quota, rounded up; 0: unknown), kernel, compiler"},
     machine},
    {{"model", "text", "", "the model's name"},
     [](const RunFacts& facts) { return Json(facts.model.name()); }},
    {{"engine", "text", "",
      "sequential, conservative or timewarp; with --engine auto, the engine at the end of the run"},
     [](const RunFacts& facts) { return Json(nw::word_for(facts.result.engine)); }},
    {{"engine_reason", "text", "", "why --engine auto has chosen this engine; empty: it was given"},
     [](const RunFacts& facts) { return Json(facts.result.engine_reason); }},
    {{"seed", "number", "", "--seed"},
     [](const RunFacts& facts) { return Json(facts.settings.config.seed); }},
    {{"workers", "threads", "", "worker threads per rank"},
     [](const RunFacts& facts) { return Json(facts.workers_per_rank()); }},
    {{"events_per_second", "events/s", "", "committed_events / wall_seconds"},
     [](const RunFacts& facts) { return Json(facts.events_per_second()); }},
    {{"efficiency", "share", "", "committed_events / executed_events; 1 if no event was executed"},
     [](const RunFacts& facts) { return Json(efficiency_of(facts.result.totals)); }},
};

constexpr Field fields_after_figures[] = {
    {{"topology", "array", "numa",
      "each NUMA node with node, cores, cpus (those that this process may use), total_bytes, "
      "free_bytes (at the start; both 0: no memory), distances (to each node of this array; 0: "
      "unknown)"},
     topology},
    {{"place", "text", "numa", "--place: the placement policy"},
     [](const RunFacts& facts) { return Json(facts.settings.config.place->word); }},
    {{"remote_page_share", "share", "numa",
      "share of the pages that are not on the node of their group's worker at the end, measured on "
      "a sample; null: not measured, because there is one node"},
     remote_page_share},
    {{"placement", "object", "numa",
      "the same by kind of pages (state, engine, mail), each with resident_bytes, remote_share, "
      "bytes_by_node (in the order of topology); null: not measured"},
     placement},
    {{"pagemigd", "object", "numa",
      "the page-migration daemon: threads (0: none), period_seconds, passes and busy_seconds (CPU "
      "time) of all threads"},
     pagemigd},
    {{"an_event", "object", "hardware",
      "each of these figures divided by committed_events (since a --restart)"},
     hardware_an_event},
    {{"options", "object", "",
      "each option of the engine and the model with its value in this run; null: no value, or the "
      "option had no effect"},
     options_used},
    {{"workers_detail", "array", "",
      "for each worker: rank, core, node (null: not pinned), lps, groups (both at the end), "
      "busy_seconds (CPU time of its thread), asleep_seconds (time in which its thread slept, "
      "because the workers of this thread had no work), efficiency (share of its "
      "executed_events that were not rolled back) and every counter"},
     workers_detail},
};

void put(Json& json, const FigureInfo& info, Json value) {
    Json& object = info.section.empty() ? json : json[std::string(info.section)];
    object[std::string(info.name)] = std::move(value);
}

struct FigurePutter {
    Json& json;

    void operator()(const FigureInfo& info, auto, const auto& figure) {
        put(json, info, json_of(figure));
    }
    void operator()(Unlisted, auto, const auto&) {}
};

void add_row(std::string& text, const FigureInfo& info) {
    text += fmt::format("| `{}` | {} | {} |\n", full_name(info), info.unit, info.meaning);
}

struct RowAdder {
    std::string& text;

    void operator()(const FigureInfo& info, auto, const auto&) { add_row(text, info); }
    void operator()(Unlisted, auto, const auto&) {}
};

}  // namespace

std::string statistics_json(const RunFacts& facts) {
    Json json = Json::object();
    for (const Field& field : fields_before_figures) put(json, field.info, field.value(facts));
    visit_figures(FigurePutter{json}, facts.result);
    for (const Field& field : fields_after_figures) put(json, field.info, field.value(facts));
    // A file name may be invalid UTF-8.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string statistics_reference() {
    std::string text =
        "# Statistics\n\n"
        "`--stats FILE` writes one JSON object. A dot in a name separates an object from its "
        "member:\n"
        "`memory.segments_bytes` is `\"memory\": {\"segments_bytes\": …}`. Counters are sums over "
        "all\n"
        "workers. A number that does not exist, like an infinite end time, is `null`.\n\n"
        "This page is printed by `numawarp-reference statistics`.\n\n"
        "| name | unit | meaning |\n| --- | --- | --- |\n";
    const RunResult no_result;
    for (const Field& field : fields_before_figures) add_row(text, field.info);
    visit_figures(RowAdder{text}, no_result);
    for (const Field& field : fields_after_figures) add_row(text, field.info);
    return text;
}

}  // namespace nw
