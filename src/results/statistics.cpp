#include "results/statistics.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/version.hpp"
#include "options/idle_options.hpp"
#include "results/machine_facts.hpp"

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

// JSON has no infinity.
Json finite_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }

// What was asked for, with what the engine decided where it was left to it.
Json options_used(const RunFacts& facts) {
    Json options = Json::object();
    for (const OptionSpec& spec : facts.options.specs())
        if (spec.value) options[spec.name] = spec.value();
    const RunResult& result = facts.result;
    options["workers"] = facts.workers_per_rank();
    options["until"] = finite_or_null(result.until);
    options["rollback"] = word_for(result.rollback);
    options["lps-per-group"] = result.lps_per_group;
    // Who reads them later takes them for what the run was made with. One worker there was, asked for
    // or not.
    for (const IdleOption& idle : idle_options(facts.settings, facts.shape()))
        if (idle.name != "workers") options[idle.name] = nullptr;
    return options;
}

Json workers_detail(const RunFacts& facts) {
    Json workers = Json::array();
    for (const WorkerReport& report : facts.result.workers) {
        Json worker = {{"rank", report.rank},
                       {"core", report.core < 0 ? Json(nullptr) : Json(report.core)},
                       {"node", report.node < 0 ? Json(nullptr) : Json(report.node)},
                       {"lps", report.lps},
                       {"groups", report.groups},
                       {"busy_seconds", report.busy_seconds},
                       {"efficiency", worker_efficiency_of(report.counters)}};
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

Json placement_history(const RunFacts& facts) {
    Json samples = Json::array();
    for (const PlacementSample& sample : facts.result.numa.history)
        samples.push_back({{"seconds", sample.seconds},
                           {"groups_moved", sample.groups_moved},
                           {"pages_moved", sample.pages_moved},
                           {"passes", sample.passes},
                           {"remote_page_share", sample.remote_page_share}});
    return samples;
}

Json pagemigd(const RunFacts& facts) {
    const PagemigdReport& report = facts.result.numa.pagemigd;
    return {{"threads", report.threads},
            {"period_seconds", report.period_seconds},
            {"passes", report.figures.passes},
            {"busy_seconds", static_cast<double>(report.figures.busy_ns) / 1e9}};
}

Json memory_by_kind(const RunFacts& facts) {
    const MemoryKinds& kinds = facts.result.numa.memory;
    return {{"state", kinds.state},
            {"events", kinds.events},
            {"history", kinds.history},
            {"snapshots", kinds.snapshots},
            {"bottom_halves", kinds.bottom_halves}};
}

Json machine(const RunFacts&) {
    const MachineFacts facts = machine_facts();
    return {{"cpu", facts.cpu},
            {"cpus", facts.cpus},
            {"kernel", facts.kernel},
            {"compiler", facts.compiler}};
}

Json history(const RunFacts& facts) {
    Json samples = Json::array();
    for (const RunSample& sample : facts.result.history)
        samples.push_back({{"seconds", sample.seconds},
                           {"gvt", finite_or_null(sample.gvt)},
                           {"committed_events", sample.committed_events},
                           {"executed_events", sample.executed_events},
                           {"rolled_back_events", sample.rolled_back_events},
                           {"gvt_rounds", sample.gvt_rounds},
                           {"resident_bytes", sample.resident_bytes},
                           {"window", finite_or_null(sample.window)}});
    return samples;
}

Json rollback_lengths(const RunFacts& facts) {
    RollbackLengths sum;
    for (const WorkerReport& worker : facts.result.workers) sum.add(worker.rollback_lengths);
    Json buckets = Json::array();
    for (std::size_t b = 0; b < sum.buckets_used(); ++b)
        buckets.push_back(
            {{"events_max", RollbackLengths::events_max(b)}, {"rollbacks", sum.rollbacks(b)}});
    return buckets;
}

Json rollback_spots(const RunFacts& facts) {
    Json spots = Json::array();
    for (const RollbackSpot& spot : facts.result.rollback_spots)
        spots.push_back({{"lp", spot.lp},
                         {"rank", spot.rank},
                         {"worker", spot.worker},
                         {"rolled_back_events", spot.rolled_back_events}});
    return spots;
}

Json communication(const RunFacts& facts) {
    return facts.result.ranks > 1 ? Json(facts.result.communication) : Json::array();
}

struct Field {
    const char* section;  // empty: top level
    const char* name;
    const char* unit;
    const char* meaning;
    Json (*value)(const RunFacts&);
};

constexpr Field fields_before_counters[] = {
    {"", "schema", "text", "name and number of this format",
     [](const RunFacts&) { return Json("numawarp.stats/2"); }},
    {"", "version", "text", "numawarp's version", [](const RunFacts&) { return Json(version); }},
    {"", "commit", "text", "the commit that numawarp was built from",
     [](const RunFacts&) { return Json(built_commit); }},
    {"", "date", "text", "when the run was over, in UTC",
     [](const RunFacts&) { return Json(date_now()); }},
    {"", "machine", "object",
     "the first rank's: cpu (its name), cpus (hardware threads that this process may use; 0: "
     "unknown), kernel, compiler",
     machine},
    {"", "model", "text", "the model's name",
     [](const RunFacts& facts) { return Json(facts.model.name()); }},
    {"", "engine", "text", "sequential, conservative or timewarp",
     [](const RunFacts& facts) { return Json(nw::word_for(facts.settings.config.engine)); }},
    {"", "seed", "number", "--seed",
     [](const RunFacts& facts) { return Json(facts.settings.config.seed); }},
    {"", "ranks", "ranks", "OS processes of the run",
     [](const RunFacts& facts) { return Json(facts.result.ranks); }},
    {"", "workers", "threads", "worker threads in each rank",
     [](const RunFacts& facts) { return Json(facts.workers_per_rank()); }},
    {"", "lps", "LPs", "logical processes",
     [](const RunFacts& facts) { return Json(facts.result.lps); }},
    {"", "groups", "groups", "groups of LPs that share pages and move together",
     [](const RunFacts& facts) { return Json(facts.result.groups); }},
    {"", "until", "virtual time", "the end time asked for; null: none",
     [](const RunFacts& facts) { return finite_or_null(facts.result.until); }},
    {"", "gvt", "virtual time", "the final global virtual time: every event before it is committed",
     [](const RunFacts& facts) { return finite_or_null(facts.result.end_time); }},
    {"", "end_reason", "text", "until, no_events, all_can_end or interrupted",
     [](const RunFacts& facts) { return Json(word_for(facts.result.reason)); }},
    {"", "wall_seconds", "seconds", "the event loop alone, without set-up",
     [](const RunFacts& facts) { return Json(facts.result.wall_seconds); }},
    {"", "setup_seconds", "seconds", "from the start of set-up to the first event",
     [](const RunFacts& facts) { return Json(facts.result.setup_seconds); }},
    {"", "events_per_second", "events/s", "committed_events / wall_seconds",
     [](const RunFacts& facts) { return Json(facts.events_per_second()); }},
    {"", "efficiency", "share", "committed_events / executed_events; 1 where nothing was executed",
     [](const RunFacts& facts) { return Json(efficiency_of(facts.result.totals)); }},
    {"", "digest", "32 hex digits",
     "hash over all committed events: equal for equal model, seed and end time",
     [](const RunFacts& facts) { return Json(facts.result.digest.hex()); }},
};

constexpr Field fields_after_counters[] = {
    {"memory", "resident_peak_bytes", "bytes", "most resident memory of the process at a time",
     [](const RunFacts& facts) { return Json(facts.result.resident_peak_bytes); }},
    {"memory", "segments_bytes", "bytes", "addresses that the LPs' segments take at the end",
     [](const RunFacts& facts) { return Json(facts.result.segments_bytes); }},
    {"memory", "by_kind", "object",
     "bytes of state, events, history, snapshots and bottom_halves: for each worker when their sum "
     "was highest (seen every 100 ms), summed over workers; Time Warp only",
     memory_by_kind},
    {"numa", "nodes", "nodes", "NUMA nodes whose cores this process may use",
     [](const RunFacts& facts) { return Json(facts.result.nodes); }},
    {"numa", "topology", "array",
     "every node with node, cores, cpus (those that this process may use), total_bytes, free_bytes "
     "(at the start; 0 and 0: no memory), distances (to each node of this array; 0: unknown)",
     topology},
    {"numa", "remote_page_share", "share",
     "pages that are not on the node of their group's worker at the end, as the kernel answers for "
     "a sample; null: not asked, since there is one node",
     remote_page_share},
    {"numa", "placement", "object",
     "the same by kind (state, engine, mail), each with resident_bytes, remote_share, "
     "bytes_by_node "
     "(in the order of topology); null: not asked",
     placement},
    {"numa", "pages_shared", "pages",
     "pages that belong to more than one group, over all segments; null: not asked",
     [](const RunFacts& facts) {
         const auto& pages = facts.result.numa.pages_shared;
         return pages ? Json(*pages) : Json(nullptr);
     }},
    {"numa", "pages_moved", "pages", "pages that the daemon took to another node",
     [](const RunFacts& facts) { return Json(facts.result.numa.pagemigd.figures.pages_moved); }},
    {"numa", "pages_busy", "pages", "moves that the kernel put off; tried again a period later",
     [](const RunFacts& facts) { return Json(facts.result.numa.pagemigd.figures.pages_busy); }},
    {"numa", "pages_no_room", "pages", "moves that found their node full",
     [](const RunFacts& facts) { return Json(facts.result.numa.pagemigd.figures.pages_no_room); }},
    {"numa", "pages_failed", "pages", "moves that the kernel refused for other reasons",
     [](const RunFacts& facts) { return Json(facts.result.numa.pagemigd.figures.pages_failed); }},
    {"numa", "pagemigd", "object",
     "the daemon: threads (0: none), period_seconds, passes and busy_seconds (CPU time) of all "
     "threads",
     pagemigd},
    {"numa", "placement_history", "array",
     "samples during the run, at most 1,000, the last of its end, with seconds (of the event "
     "loop), groups_moved, pages_moved and passes of the daemon so far, remote_page_share",
     placement_history},
    {"", "history", "array",
     "samples during the run, at most 1,001, the last of its end, with seconds (of the event "
     "loop), "
     "gvt, committed_events, executed_events, rolled_back_events and gvt_rounds so far, "
     "resident_bytes (of all ranks; 0: not looked) and window (beyond gvt; null: none)",
     history},
    {"checkpoints", "written", "checkpoints", "checkpoints of the whole run (--checkpoint)",
     [](const RunFacts& facts) { return Json(facts.result.saving.written); }},
    {"checkpoints", "bytes", "bytes", "the last of them, over all ranks",
     [](const RunFacts& facts) { return Json(facts.result.saving.bytes); }},
    {"checkpoints", "seconds", "seconds", "in which nobody executed because of them",
     [](const RunFacts& facts) { return Json(facts.result.saving.seconds); }},
    {"checkpoints", "restarted_at", "virtual time",
     "where this process went on (--restart); null: it began at the beginning. Counters and "
     "wall_seconds are of the whole run, workers_detail, history and the like of this process",
     [](const RunFacts& facts) {
         const auto& at = facts.result.saving.restarted_at;
         return at ? Json(*at) : Json(nullptr);
     }},
    {"", "rollback_lengths", "array",
     "rollbacks by how many events each undid, in powers of two: rollbacks of at most events_max "
     "events and more than the entry before",
     rollback_lengths},
    {"", "rollback_spots", "array",
     "the 16 LPs with most rolled_back_events, each with lp, rank and worker (at the end) and "
     "rolled_back_events; the most first",
     rollback_spots},
    {"", "communication", "array",
     "events and anti-messages sent from rank (row) to rank (column); empty with one rank",
     communication},
    {"", "options", "object",
     "every option of engine and model with the value that was in force; null: there was none, or "
     "the option did nothing in this run",
     options_used},
    {"", "workers_detail", "array",
     "for each worker rank, core, node (null: not pinned), lps, groups (both at the end), "
     "busy_seconds "
     "(CPU time), efficiency (share of executed_events that it did not roll back) and every "
     "counter",
     workers_detail},
    {"", "notices", "array of texts", "what fell back, and why",
     [](const RunFacts& facts) { return Json(facts.result.notices); }},
};

void put(Json& json, std::string_view section, std::string_view name, Json value) {
    Json& object = section.empty() ? json : json[std::string(section)];
    object[std::string(name)] = std::move(value);
}

void add_row(std::string& text, std::string_view section, std::string_view name,
             std::string_view unit, std::string_view meaning) {
    text += fmt::format("| `{}{}{}` | {} | {} |\n", section, section.empty() ? "" : ".", name, unit,
                        meaning);
}

}  // namespace

std::string statistics_json(const RunFacts& facts) {
    Json json = Json::object();
    for (const Field& field : fields_before_counters)
        put(json, field.section, field.name, field.value(facts));
    for (std::size_t i = 0; i < counter_count; ++i)
        put(json, counter_table[i].section, counter_table[i].name, facts.count(Counter{i}));
    for (const Field& field : fields_after_counters)
        put(json, field.section, field.name, field.value(facts));
    // A file's name may be no UTF-8.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string statistics_reference() {
    std::string text =
        "# Statistics\n\n"
        "`--stats FILE` writes one JSON object. A name with a dot stands in an object of its own:\n"
        "`memory.segments_bytes` is `\"memory\": {\"segments_bytes\": …}`. Counters are sums over "
        "all\n"
        "workers. A number that does not exist, like an infinite end time, is `null`.\n\n"
        "This page is printed by `numawarp-reference statistics`.\n\n"
        "| name | unit | meaning |\n| --- | --- | --- |\n";
    for (const Field& field : fields_before_counters)
        add_row(text, field.section, field.name, field.unit, field.meaning);
    for (const CounterInfo& counter : counter_table)
        add_row(text, counter.section, counter.name, counter.unit, counter.meaning);
    for (const Field& field : fields_after_counters)
        add_row(text, field.section, field.name, field.unit, field.meaning);
    return text;
}

}  // namespace nw
