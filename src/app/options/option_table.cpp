// SPDX-License-Identifier: Apache-2.0
#include "app/options/option_table.hpp"

#include <algorithm>
#include <iterator>

#include "app/options/model_options.hpp"
#include "app/options/option_builder.hpp"
#include "lp/rollback_methods.hpp"
#include "numa/place/placement_policy.hpp"
#include "plan/partition.hpp"
#include "util/check.hpp"

namespace nw {

namespace {

using nlohmann::json;

constexpr Word<EngineKind> engine_words[] = {{"sequential", EngineKind::sequential},
                                             {"conservative", EngineKind::conservative},
                                             {"timewarp", EngineKind::timewarp},
                                             {"auto", EngineKind::automatic}};
constexpr Word<MemoryMode> memory_words[] = {{"numa", MemoryMode::numa},
                                             {"libc", MemoryMode::libc}};
constexpr Word<bool> libc_builder_words[] = {{"worker-0", false}, {"owners", true}};
constexpr Word<RebindPolicy> rebind_policy_words[] = {{"least-moves", RebindPolicy::least_moves},
                                                      {"knapsack", RebindPolicy::knapsack},
                                                      {"root-sim", RebindPolicy::root_sim}};
constexpr Word<HugePages> huge_page_words[] = {
    {"auto", HugePages::automatic}, {"on", HugePages::on}, {"off", HugePages::off}};
constexpr Word<ProgressMode> progress_words[] = {
    {"auto", ProgressMode::automatic}, {"on", ProgressMode::on}, {"off", ProgressMode::off}};
constexpr Word<bool> switch_words[] = {{"on", true}, {"off", false}};

constexpr Range allowed_time = above(0);
constexpr Range allowed_seconds = above(0).to(1e9);
constexpr Range allowed_share = from(0).to(1);

// Options that change how the engine executes the run, but not its results.
constexpr OptionRole execution{Engines::all, Equal::value, Equal::none, InCheckModel::replaced};
constexpr OptionRole time_warp{Engines::others_ignore, Equal::value, Equal::none,
                               InCheckModel::replaced};
constexpr OptionRole time_warp_only{Engines::others_refuse, Equal::value, Equal::none,
                                    InCheckModel::replaced};
// The end of the run, and the resources that it may use.
constexpr OptionRole limit{Engines::all, Equal::value, Equal::none, InCheckModel::kept};
// The state of a saved run depends on these options.
constexpr OptionRole saved{Engines::all, Equal::value, Equal::value, InCheckModel::replaced};
// Files that all ranks write together.
constexpr OptionRole tables{Engines::all, Equal::presence, Equal::presence, InCheckModel::replaced};
constexpr OptionRole timeline{Engines::others_refuse, Equal::presence, Equal::none,
                              InCheckModel::replaced};
// Files and texts of a single rank.
constexpr OptionRole of_rank{Engines::all, Equal::none, Equal::none, InCheckModel::replaced};
constexpr OptionRole text_request{Engines::all, Equal::presence, Equal::none, InCheckModel::kept};

// s: the user's settings.
const OptionNeed region{"--memory numa",
                        [](auto& s) { return s.config.memory == MemoryMode::numa; }};
const OptionNeed pinning{"--pin on", [](auto& s) {
                             const PlacementChoice& place = *s.config.place;
                             return s.config.pin || !(place.moves_workers || place.is_strict);
                         }};
const OptionNeed rebinding{"--rebind SECONDS", [](auto& s) { return s.config.rebind_seconds > 0; }};
const OptionNeed checkpoints{"--checkpoint DIR", [](auto& s) { return s.config.save.on(); }};
const OptionNeed output{"--output DIR", [](auto& s) { return !s.config.output_directory.empty(); }};
const OptionNeed results{"--output DIR or --stats FILE", [](auto& s) {
                             return !s.config.output_directory.empty() || !s.stats_file.empty();
                         }};

// A need that any placement policy with this property meets.
OptionNeed policy(bool PlacementChoice::*property) {
    std::vector<std::string> words;
    for (const PlacementChoice* const choice : placement_choices)
        if (choice->*property) words.emplace_back(choice->word);
    return {"--place " + enumerate(words, " or "),
            [property](auto& s) { return s.config.place->*property; }};
}

std::string methods_without_interval() {
    std::vector<std::string> words;
    for (const RollbackMethod* const method : rollback_methods())
        if (!method->uses_interval) words.emplace_back(method->word);
    return enumerate(words, " or ");
}

const IdleCondition sequential{"--engine sequential", [](auto& s, auto&) {
                                   return s.config.engine == EngineKind::sequential;
                               }};
const IdleCondition without_interval{
    "rollback by " + methods_without_interval(),
    [](auto&, auto& run) { return !method_of(run.rollback).uses_interval; }};
const IdleCondition late_commit{
    "a model with can_end() on several workers, which always keeps this data",
    [](auto&, auto& run) { return run.commits_late; }};
const IdleCondition one_worker{"one worker", [](auto&, auto& run) { return run.workers == 1; }};
const IdleCondition one_rank{"one rank", [](auto&, auto& run) { return run.ranks == 1; }};
const IdleCondition no_rebinding{"--rebind off",
                                 [](auto& s, auto&) { return s.config.rebind_seconds == 0; }};
const IdleCondition random_moves{"--check-rebind",
                                 [](auto& s, auto&) { return s.config.check_rebind > 0; }};
const IdleCondition no_region{"--memory libc, which does not place pages",
                              [](auto& s, auto&) { return s.config.memory == MemoryMode::libc; }};
const IdleCondition no_libc{"--memory numa",
                            [](auto& s, auto&) { return s.config.memory == MemoryMode::numa; }};
const IdleCondition quiet{"--quiet", [](auto& s, auto&) { return s.quiet; }};

void add_engine(OptionBuilder& table, Config& config) {
    table.group("Engine");
    table.add_words(
        "engine", config.engine, engine_words, {execution, {}, {}},
        "simulation engine; all engines give the same result. sequential: one rank only; auto: "
        "conservative or timewarp, whichever is faster in trials during the run");
    OptionSpec& workers = table.add_number(
        "workers", "N", config.workers, from(1).to(Partition::workers_per_rank_max),
        {execution, {}, {sequential}}, "worker threads per rank");
    workers.standard = "one per core";
    workers.neutral = {"1"};
    workers.value = [&config] { return number_or(config.workers == 0, "auto", config.workers); };
    workers.chosen = [](const RunShape& shape) { return json(shape.workers / shape.ranks); };
    OptionSpec& until =
        table.add_number("until", "T", config.until, allowed_time, {limit, {}, {}},
                         "end time in the model's unit; events before this time are executed");
    until.standard = "set by the model";
    until.chosen = [](const RunShape& shape) { return json(shape.until); };
    table.add_number("warm-up", "T", config.warm_up, from(0), {saved, {}, {}},
                     "virtual time at which recording of the model's measures begins");
    table.add_number_or(
        "measure-interval", "T", "off", config.measure_interval, allowed_time,
        {saved, {results}, {}},
        "also write the measures of each interval of this length, beginning at --warm-up");
    table.add_number("seed", "N", config.seed, {}, {of_system, {}, {}},
                     "random seed; it determines the whole run");
    table.add_words("pin", config.pin, switch_words, {execution, {}, {}}, "bind workers to cores");
    table.add_words("net-thread", config.net_thread, switch_words, {time_warp, {}, {}},
                    "use a dedicated communication thread in each rank");
    table.add_number_or("watchdog", "SECONDS", "off", config.watchdog_seconds, allowed_seconds,
                        {execution, {}, {}},
                        "after this time, report the handler or the rank that delays the run, or "
                        "the virtual time of an endless chain of events");
    table.add_number_or("handler-timeout", "SECONDS", "off", config.handler_timeout_seconds,
                        allowed_seconds, {limit, {}, {}},
                        "end the run if a handler that cannot be rolled back takes longer");
}

void add_gvt_interval(OptionBuilder& table, Config& config) {
    static constexpr std::string_view events_suffix = "ev";
    static constexpr double never_ms = 1e9;
    static constexpr Range allowed_ms = above(0).to(60'000);
    static constexpr Range allowed_events = from(1).to(1e9);
    OptionSpec& interval = table.add("gvt-interval", "MS|Nev|auto", "auto", {time_warp, {}, {}},
                                     "milliseconds, or events per worker (as in 2000ev), between "
                                     "computations of global virtual time (GVT)",
                                     config.gvt_interval_ms, config.gvt_interval_events);
    interval.allowed = allowed_ms.text();
    interval.set = [reset = interval.reset, &config](std::string_view text) {
        reset();
        if (text == "auto") return;
        if (text.ends_with(events_suffix)) {
            text.remove_suffix(events_suffix.size());
            config.gvt_interval_events = parse_number<std::uint32_t>(text, allowed_events);
            config.gvt_interval_ms = never_ms;
            return;
        }
        config.gvt_interval_ms = parse_number<double>(
            text, allowed_ms, "a number of events per worker, as in 2000ev; or auto");
        config.gvt_interval_events = 0;
    };
    interval.value = [&config] {
        if (config.gvt_interval_events == 0) return json(config.gvt_interval_ms);
        if (config.gvt_interval_ms < never_ms) return json("auto");
        return json(fmt::format("{}{}", config.gvt_interval_events, events_suffix));
    };
}

void add_time_warp(OptionBuilder& table, Config& config) {
    table.group("Time Warp");
    std::vector<Word<Rollback>> methods;
    for (const RollbackMethod* const method : rollback_methods())
        methods.push_back({method->word, method->value});
    OptionSpec& rollback =
        table.add_words("rollback", config.rollback, std::move(methods), {time_warp, {}, {}},
                        "how a rollback restores the state of an LP");
    rollback.standard = "preferred by the model";
    rollback.chosen = [&config](const RunShape& shape) {
        return shape.runs_timewarp(config) ? json(method_of(shape.rollback).word) : json(nullptr);
    };
    table.add_number_or("state-saving-interval", "N", "auto", config.state_saving_interval,
                        from(1).to(1e9), {time_warp, {}, {without_interval}},
                        "events of an LP between two saved states");
    add_gvt_interval(table, config);
    OptionSpec& window = table.add("window", "T|auto|off", "auto", {time_warp, {}, {}},
                                   "how far beyond GVT a worker may execute events", config.window,
                                   config.window_mode);
    window.allowed = allowed_time.text();
    window.set = [&config](std::string_view text) {
        config.window = time_infinity;
        config.window_mode = text == "auto" ? WindowMode::automatic : WindowMode::off;
        if (text == "auto" || text == "off") return;
        config.window_mode = WindowMode::fixed;
        config.window = parse_number<VirtualTime>(text, allowed_time, "auto; or off");
    };
    window.value = [&config] {
        if (config.window_mode == WindowMode::fixed) return json(config.window);
        return json(config.window_mode == WindowMode::off ? "off" : "auto");
    };
    table.add_words("keep-safe-events", config.keep_safe_events, switch_words,
                    {time_warp, {}, {late_commit}},
                    "keep undo data for all events, even for events that nothing can undo (to "
                    "measure the cost)");
    OptionSpec& past_log = table.add(
        "past-log", "SIZE|auto", "auto", {time_warp, {}, {}},
        "memory in which a worker keeps the events that it may have to undo. auto: as little as "
        "possible, so that it stays in the caches; SIZE: at least SIZE, from 64K to 1G, which is "
        "used from its beginning to its end in turn (to measure the cost of memory that has left "
        "the caches)",
        config.past_log_bytes);
    past_log.set = [&config](std::string_view text) {
        constexpr std::uint64_t least = std::uint64_t{1} << 16, most = std::uint64_t{1} << 30;
        config.past_log_bytes = text == "auto" ? 0 : parse_size(text, least);
        if (config.past_log_bytes > most)
            throw InvalidValue("must be auto, or a size from 64K to 1G");
    };
    past_log.value = [&config] {
        return number_or(config.past_log_bytes == 0, "auto", config.past_log_bytes);
    };
    table
        .add_number_or("lps-per-group", "N", "auto", config.lps_per_group,
                       from(1).to(Partition::lps_per_group_most), {execution, {}, {}},
                       "LPs per group; the LPs of a group share memory pages and move together")
        .chosen = [](const RunShape& shape) { return json(shape.lps_per_group); };
    table.add_number_or("rebind", "SECONDS", "off", config.rebind_seconds, allowed_period,
                        {time_warp, {}, {one_worker}},
                        "seconds between two rebalancings of LP groups over the workers");
    table.add_words("rebind-policy", config.rebind_policy, rebind_policy_words,
                    {time_warp, {}, {one_worker, no_rebinding, random_moves}},
                    "how a rebalancing assigns LP groups to workers. least-moves: few groups move; "
                    "knapsack: all groups are assigned anew, as in the paper to which NUMA Time "
                    "Warp refers; root-sim: knapsack with a mistake of the authors' program, which "
                    "loses the balance (to measure the effect of the mistake)");
    table.add_words("rebind-ranks", config.rebind_ranks, switch_words,
                    {time_warp, {}, {one_rank, no_rebinding, no_region}},
                    "also rebalance LP groups over the ranks, with --memory numa");
    table.add_number("check-rollback", "P", config.check_rollback, allowed_share,
                     {time_warp_only, {}, {}},
                     "force a rollback after a share P of the events and check that it restores "
                     "the state exactly");
    table.add_number("check-interrupt", "P", config.check_interrupt, allowed_share,
                     {time_warp, {}, {}},
                     "defer a share P of the events until GVT reaches them, as if their handlers "
                     "had been interrupted");
    table.add_number("check-rebind", "P", config.check_rebind, allowed_share,
                     {time_warp, {rebinding}, {one_worker}},
                     "move a share P of the groups, chosen at random, at each rebalancing");
}

void add_check_model(OptionBuilder& table, Settings& settings) {
    table.group("Checking a model");
    static constexpr std::uint64_t events_standard = 20'000;
    const auto allowed_events = from(1).to(1e9);
    OptionSpec& check =
        table.add("check-model", "", "", {of_rank, {}, {}},
                  "run the beginning of the model in several ways, report the rules that the model "
                  "breaks, and exit; --check-model=N runs the first N events; default: 20000, or "
                  "fewer if they take more than a second",
                  settings.check_model_events, settings.check_model_is_timed);
    check.use = OptionUse::check;
    check.set = [&settings, allowed_events](std::string_view text) {
        settings.check_model_events =
            text == "on"    ? events_standard
            : text == "off" ? 0
                            : parse_number<std::uint64_t>(text, allowed_events, "on, or off");
        settings.check_model_is_timed = text == "on";
    };
    check.value = [&settings] {
        return number_or(settings.check_model_events == 0, "off", settings.check_model_events);
    };
}

std::string text_of(const PagemigdOptions& pagemigd) {
    if (pagemigd.automatic) return "auto";
    if (pagemigd.threads == 0) return "off";
    return fmt::format("{}@{}", pagemigd.threads, pagemigd.period_seconds);
}

void add_memory(OptionBuilder& table, Config& config) {
    table.group("Memory");
    table.add_words("memory", config.memory, memory_words, {limit, {}, {}},
                    "numa: memory segments that are placed by NUMA node; libc: plain malloc");
    table.add_words(
        "libc-builder", config.libc_built_by_owners, libc_builder_words,
        {time_warp, {}, {no_libc, one_worker}},
        "with --memory libc, the thread that builds the LPs, and so decides the nodes of "
        "their pages. worker-0: one thread for all LPs; owners: the worker of each LP");
    table.add_words(
        "huge-pages", config.huge_pages, huge_page_words, {execution, {}, {no_region}},
        "transparent huge pages for the segments; auto: only for large groups, and not if "
        "--place spreads the pages");
    table.add_words("protect-shared", config.protect_shared, switch_words, {limit, {}, {no_region}},
                    "memory that setup() allocates is read-only while handlers run; a handler that "
                    "writes to it fails");
    table.add_words(
        "check-heap", config.check_heap, switch_words, {saved, {}, {}},
        "put guards around each block that an LP allocates, to find writes beyond the block");
    std::vector<std::string> policies;
    for (const PlacementChoice* const choice : placement_choices)
        policies.push_back(fmt::format("{}: {}", choice->word, choice->help));
    table.add_record("place", config.place,
                     {std::begin(placement_choices), std::end(placement_choices)},
                     {time_warp_only, {region, pinning}, {}},
                     fmt::format("placement of pages. {}", fmt::join(policies, "; ")));
    table.add_text("machine", "FILE", config.machine_file,
                   {execution, {policy(&PlacementChoice::reads_machine)}, {}},
                   "JSON file of the bandwidths between the machine's nodes, or FILE#NAME for one "
                   "of several machines; default: the values that ./jobs/run machine has measured, "
                   "else those of the firmware");
    table.add_number_or(
        "proximity", "SHARE", "auto", config.proximity, allowed_share,
        {execution, {policy(&PlacementChoice::reads_proximity)}, {}},
        "with --place weighted, nodes without workers also get pages; this share of these pages is "
        "put on nodes with workers instead; auto: the fastest value, searched during the run");
    OptionSpec& pagemigd =
        table.add("pagemigd", "THREADS@SECONDS|auto|off", "auto", {time_warp, {}, {no_region}},
                  "threads and period of the daemon that moves pages to the "
                  "node of their worker; auto: 1@1 on several nodes, else off",
                  config.pagemigd);
    pagemigd.set = [&config](std::string_view text) { config.pagemigd = parse_pagemigd(text); };
    pagemigd.value = [&config] { return json(text_of(config.pagemigd)); };
    OptionSpec& cap = table.add("memory-cap", "SIZE", "80 % of the free memory", {limit, {}, {}},
                                "memory that a rank may use, as in 8G; near this limit the run "
                                "slows down instead of failing",
                                config.memory_cap_bytes);
    cap.set = [&config](std::string_view text) {
        config.memory_cap_bytes = parse_size(text, std::uint64_t{1} << 20);
    };
    cap.value = [&config] {
        return number_or(config.memory_cap_bytes == 0, "auto", config.memory_cap_bytes);
    };
}

void add_long_runs(OptionBuilder& table, Settings& settings) {
    SaveOptions& save = settings.config.save;
    table.group("Long runs");
    table.add_text("checkpoint", "DIR", save.directory, {execution, {region}, {}},
                   "save the whole run in this folder periodically, and when SIGTERM, SIGUSR1 or "
                   "SIGHUP ends the run (exit code 0)");
    table.add_number("checkpoint-period", "S", save.period_seconds, allowed_seconds,
                     {execution, {checkpoints}, {}},
                     "seconds of wall time between two checkpoints");
    table.add_text("restart", "DIR", settings.restart_directory, {execution, {region}, {}},
                   "continue from the last checkpoint in this folder; the rest of the command line "
                   "must be the same, except for the numbers of workers and ranks");
}

void add_output(OptionBuilder& table, Settings& settings) {
    Config& config = settings.config;
    table.group("Output");
    table.add_text("stats", "FILE", settings.stats_file, {of_rank, {}, {}},
                   "write the statistics as JSON");
    table.add_text("output", "DIR", config.output_directory, {tables, {}, {}},
                   "write the model's committed output to this folder");
    std::vector<const FormatChoice*> formats;
    for (const FormatChoice& choice : format_choices()) formats.push_back(&choice);
    table.add_record("output-format", settings.output_format, std::move(formats),
                     {execution, {output}, {}},
                     "format of the output tables at the end of the run; hdf5 has typed columns");
    table.add_text("trace", "FILE", settings.trace_file, {timeline, {}, {}},
                   "write a timeline of what each worker did, for Perfetto and chrome://tracing");
    table.add_flag("hardware-counters", config.hardware_counters, {execution, {}, {}},
                   "count instructions, cache misses and similar events of the event loop, if the "
                   "machine and its kernel permit it");
    table.add_words("progress", settings.progress, progress_words, {of_rank, {}, {quiet}},
                    "show progress in one live line on standard error; in a log, one line per "
                    "minute (on: the first after 10 s)");
    table.add_flag("quiet", settings.quiet, {of_rank, {}, {}}, "print errors only");
    table.add_flag("verbose", settings.verbose, {of_rank, {}, {quiet}},
                   "report where the workers run, and the figures of each worker and each counter");
    table
        .add_text("config", "FILE", settings.config_file, {of_rank, {}, {}},
                  "read options from a TOML file; the command line has precedence")
        .use = OptionUse::file;
    table
        .add_flag("version", settings.version, {text_request, {}, {}}, "print the version and exit")
        .use = OptionUse::text;
    table.add_flag("help", settings.help, {text_request, {}, {}}, "print this help and exit").use =
        OptionUse::text;
}

}  // namespace

bool OptionSpec::is_on() const {
    const json now = value();
    return !now.is_null() && now != false;
}

std::string OptionSpec::text() const {
    const json now = value();
    if (now.is_null()) return {};
    if (now.is_string()) return now.get<std::string>();
    if (now.is_boolean()) return now.get<bool>() ? "on" : "off";
    return now.is_number_float() ? fmt::format("{}", now.get<double>()) : now.dump();
}

OptionTable::OptionTable(Settings& settings) : settings_(settings) {
    OptionBuilder table(specs_);
    add_engine(table, settings.config);
    add_time_warp(table, settings.config);
    add_check_model(table, settings);
    add_memory(table, settings.config);
    add_long_runs(table, settings);
    add_output(table, settings);
}

OptionTable::OptionTable(Settings& settings, Model& model) : OptionTable(settings) {
    OptionBuilder table(specs_);
    engine_options_ = specs_.size();
    add_model_options(table, model);
}

const OptionSpec* OptionTable::find(std::string_view name) const noexcept {
    return find_in(specs_, name);
}

const OptionSpec& OptionTable::option_of(const void* variable) const {
    const auto found = std::ranges::find_if(specs_, [variable](const OptionSpec& spec) {
        return std::ranges::find(spec.variables, variable) != spec.variables.end();
    });
    NW_CHECK(found != specs_.end());
    return *found;
}

std::vector<std::string> OptionTable::names(bool settings_only) const {
    std::vector<std::string> names;
    for (const OptionSpec& spec : specs_)
        if (spec.is_setting() || !settings_only) names.push_back(spec.name);
    return names;
}

std::string_view word_for(EngineKind kind) noexcept { return word_of(engine_words, kind); }

// --- Options without effect ----------------------------------------------------------------------

// An option can have no effect in a run because of other choices. If the user has given such an
// option, a notice reports this. The statistics do not list the option as in force.

bool OptionTable::is_wanted(const OptionSpec& spec) const {
    const std::string text = spec.text();
    return settings_.given.contains(spec.name) && !text.empty() &&
           std::ranges::find(spec.neutral, text) == spec.neutral.end();
}

std::string OptionTable::why_idle(const OptionSpec& spec, const RunShape& shape) const {
    const OptionRole& role = spec.rules.role;
    if (!spec.is_setting()) return {};
    if (settings_.check_model_events > 0 && role.in_check_model == InCheckModel::replaced)
        return "--check-model, which chooses the value";
    if (role.engines == Engines::others_ignore && !shape.runs_timewarp(settings_.config))
        return shape.is_conservative ? "the conservative engine, which --engine auto has chosen"
                                     : option_of(&settings_.config.engine).with_value();
    for (const IdleCondition& condition : spec.rules.idle)
        if (condition.holds(settings_, shape)) return condition.name;
    return {};
}

std::vector<std::string> OptionTable::idle_notices(const RunShape& shape) const {
    std::vector<std::string> notices;
    for (const OptionSpec& spec : specs_)
        if (const std::string why = why_idle(spec, shape); is_wanted(spec) && !why.empty())
            notices.push_back(fmt::format("{}: has no effect with {}", spec.with_value(), why));
    return notices;
}

std::string OptionTable::option_for_timewarp() const {
    for (const OptionSpec& spec : specs_)
        if (spec.rules.role.engines != Engines::all && settings_.given.contains(spec.name) &&
            spec.text() != spec.standard)
            return spec.with_value();
    return {};
}

}  // namespace nw
