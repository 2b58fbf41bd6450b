// SPDX-License-Identifier: Apache-2.0
#include "app/options/option_table.hpp"

#include "app/options/model_options.hpp"
#include "app/options/option_builder.hpp"
#include "plan/partition.hpp"

namespace nw {

namespace {

using nlohmann::json;

constexpr Word<EngineKind> engine_words[] = {{"sequential", EngineKind::sequential},
                                             {"conservative", EngineKind::conservative},
                                             {"timewarp", EngineKind::timewarp},
                                             {"auto", EngineKind::automatic}};
constexpr Word<Rollback> rollback_words[] = {
    {"snapshot", Rollback::snapshot}, {"copy", Rollback::copy}, {"reverse", Rollback::reverse}};
constexpr Word<MemoryMode> memory_words[] = {{"numa", MemoryMode::numa},
                                             {"libc", MemoryMode::libc}};
constexpr Word<PlaceMode> place_words[] = {{"local", PlaceMode::local},
                                           {"interleave", PlaceMode::interleave},
                                           {"weighted", PlaceMode::weighted},
                                           {"asymsched", PlaceMode::asymsched},
                                           {"auto", PlaceMode::automatic}};
constexpr Word<HugePages> huge_page_words[] = {
    {"auto", HugePages::automatic}, {"on", HugePages::on}, {"off", HugePages::off}};
constexpr Word<ProgressMode> progress_words[] = {
    {"auto", ProgressMode::automatic}, {"on", ProgressMode::on}, {"off", ProgressMode::off}};
constexpr Word<bool> switch_words[] = {{"on", true}, {"off", false}};

constexpr Range allowed_time = above(0);
constexpr Range allowed_seconds = above(0).to(1e9);
constexpr Range allowed_share = from(0).to(1);

void add_engine(OptionBuilder& table, Config& config) {
    table.group("Engine");
    table.add_words(
        "engine", config.engine, engine_words,
        "simulation engine; all engines give the same result. sequential: one rank only; auto: "
        "conservative or timewarp, whichever is faster in trials during the run");
    OptionSpec& workers =
        table.add_number("workers", "N", config.workers,
                         from(1).to(Partition::workers_per_rank_max), "worker threads per rank");
    workers.standard = "one per core";
    workers.value = [&config] { return number_or(config.workers == 0, "auto", config.workers); };
    OptionSpec& until =
        table.add("until", "T", "set by the model",
                  "end time in the model's unit; events before this time are executed");
    until.allowed = allowed_time.text();
    until.set = [&config](std::string_view text) {
        config.until = parse_number<VirtualTime>(text, allowed_time);
    };
    until.value = [&config] { return config.until ? json(*config.until) : json(nullptr); };
    table.add_number("warm-up", "T", config.warm_up, from(0),
                     "virtual time at which recording of the model's measures begins");
    table.add_number_or(
        "measure-interval", "T", "off", config.measure_interval, allowed_time,
        "also write the measures of each interval of this length, beginning at --warm-up");
    table.add_number("seed", "N", config.seed, {}, "random seed; it determines the whole run");
    table.add_words("pin", config.pin, switch_words, "bind workers to cores");
    table.add_words("net-thread", config.net_thread, switch_words,
                    "use a dedicated communication thread in each rank");
    table.add_number_or("watchdog", "SECONDS", "off", config.watchdog_seconds, allowed_seconds,
                        "after this time, report the handler or the rank that delays the run, or "
                        "the virtual time at which events follow each other without end");
    table.add_number_or("handler-timeout", "SECONDS", "off", config.handler_timeout_seconds,
                        allowed_seconds,
                        "end the run if a handler that cannot be rolled back takes longer");
}

void add_gvt_interval(OptionBuilder& table, Config& config) {
    static constexpr std::string_view events_suffix = "ev";
    static constexpr double never_ms = 1e9;
    const auto allowed_ms = above(0).to(60'000);
    const auto allowed_events = from(1).to(1e9);
    OptionSpec& interval = table.add("gvt-interval", "MS|Nev|auto", "auto",
                                     "milliseconds, or events per worker (as in 2000ev), between "
                                     "computations of global virtual time (GVT)");
    interval.allowed = allowed_ms.text();
    interval.set = [&config, allowed_ms, allowed_events](std::string_view text) {
        config.gvt_interval_ms = 1;
        config.gvt_interval_events = default_gvt_interval_events;
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
    table
        .add_words("rollback", config.rollback, rollback_words,
                   "how a rollback restores the state of an LP")
        .standard = "preferred by the model";
    table.add_number_or("state-saving-interval", "N", "auto", config.state_saving_interval,
                        from(1).to(1e9), "events of an LP between two saved states");
    add_gvt_interval(table, config);
    OptionSpec& window =
        table.add("window", "T|auto|off", "auto", "how far beyond GVT a worker may execute events");
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
    table.add_words(
        "keep-safe-events", config.keep_safe_events, switch_words,
        "also keep undo data for events that nothing can undo, to measure the cost of keeping it");
    table.add_number_or("lps-per-group", "N", "auto", config.lps_per_group,
                        from(1).to(Partition::lps_per_group_most),
                        "LPs per group; the LPs of a group share memory pages and move together");
    table.add_number_or("rebind", "SECONDS", "off", config.rebind_seconds, allowed_period,
                        "seconds between two rebalancings of LP groups over the workers");
    table.add_words("rebind-ranks", config.rebind_ranks, switch_words,
                    "also rebalance LP groups over the ranks, with --memory numa");
    table.add_number("check-rollback", "P", config.check_rollback, allowed_share,
                     "force a rollback after a share P of the events and check that it restores "
                     "the state exactly");
    table.add_number("check-interrupt", "P", config.check_interrupt, allowed_share,
                     "defer a share P of the events until GVT reaches them, as if their handlers "
                     "had been interrupted");
    table.add_number("check-rebind", "P", config.check_rebind, allowed_share,
                     "move a share P of the groups, chosen at random, at each rebalancing");
}

void add_check_model(OptionBuilder& table, Settings& settings) {
    table.group("Checking a model");
    static constexpr std::uint64_t events_standard = 20'000;
    const auto allowed_events = from(1).to(1e9);
    OptionSpec& check =
        table.add("check-model", "", "",
                  "run the beginning of the model in several ways, report the rules that the model "
                  "breaks, and exit; --check-model=N runs the first N events; default: 20000, or "
                  "fewer if they take more than a second");
    check.set = [&settings, allowed_events](std::string_view text) {
        settings.check_model_events =
            text == "on"    ? events_standard
            : text == "off" ? 0
                            : parse_number<std::uint64_t>(text, allowed_events, "on, or off");
        settings.check_model_is_timed = text == "on";
    };
}

std::string text_of(const PagemigdOptions& pagemigd) {
    if (pagemigd.automatic) return "auto";
    if (pagemigd.threads == 0) return "off";
    return fmt::format("{}@{}", pagemigd.threads, pagemigd.period_seconds);
}

void add_memory(OptionBuilder& table, Config& config) {
    table.group("Memory");
    table.add_words("memory", config.memory, memory_words,
                    "numa: memory segments that are placed by NUMA node; libc: plain malloc");
    table.add_words(
        "huge-pages", config.huge_pages, huge_page_words,
        "transparent huge pages for the segments; auto: only for large groups, with --place local");
    table.add_words("protect-shared", config.protect_shared, switch_words,
                    "memory that setup() allocates is read-only while handlers run; a handler that "
                    "writes to it fails");
    table.add_words(
        "check-heap", config.check_heap, switch_words,
        "put guards around each block that an LP allocates, to find writes beyond the block");
    table.add_words(
        "place", config.place, place_words,
        "placement of pages. local: on the node of their worker; interleave: evenly on all nodes; "
        "weighted: on all nodes, by the bandwidth that the workers have to them; asymsched: local, "
        "and the workers run on the nodes whose links serve their traffic best; auto: weighted if "
        "the workers use only some of the nodes and bandwidth limits the run, else local");
    table.add_text("machine", "FILE", config.machine_file,
                   "JSON file of the bandwidths between the machine's nodes, or FILE#NAME for one "
                   "of several machines; default: the values that ./jobs/run machine has measured, "
                   "else those of the firmware");
    OptionSpec& proximity = table.add(
        "proximity", "SHARE|auto", "auto",
        "with --place weighted: the share of the pages due to nodes without workers that is put on "
        "nodes with workers instead; auto: the fastest value, searched during the run");
    proximity.allowed = allowed_share.text();
    proximity.set = [&config](std::string_view text) {
        config.proximity.reset();
        if (text != "auto") config.proximity = parse_number<double>(text, allowed_share, "auto");
    };
    proximity.value = [&config] {
        return config.proximity ? json(*config.proximity) : json("auto");
    };
    OptionSpec& pagemigd = table.add("pagemigd", "THREADS@SECONDS|auto|off", "auto",
                                     "threads and period of the daemon that moves pages to the "
                                     "node of their worker; auto: 1@1 on several nodes, else off");
    pagemigd.set = [&config](std::string_view text) { config.pagemigd = parse_pagemigd(text); };
    pagemigd.value = [&config] { return json(text_of(config.pagemigd)); };
    OptionSpec& cap = table.add("memory-cap", "SIZE", "80 % of the free memory",
                                "memory that a rank may use, as in 8G; near this limit the run "
                                "slows down instead of failing");
    cap.set = [&config](std::string_view text) {
        config.memory_cap_bytes = parse_size(text, std::uint64_t{1} << 20);
    };
    cap.value = [&config] {
        return number_or(config.memory_cap_bytes == 0, "auto", config.memory_cap_bytes);
    };
}

void add_long_runs(OptionBuilder& table, Settings& settings) {
    table.group("Long runs");
    table.add_text("checkpoint", "DIR", settings.config.save.directory,
                   "save the whole run in this folder periodically, and on SIGTERM, SIGUSR1 or "
                   "SIGHUP, which then end it with exit code 0");
    table.add_number("checkpoint-period", "S", settings.config.save.period_seconds, allowed_seconds,
                     "seconds of wall time between two checkpoints");
    table.add_text("restart", "DIR", settings.restart_directory,
                   "continue from the last checkpoint in this folder; the rest of the command line "
                   "must be the same, except for the numbers of workers and ranks");
}

void add_output(OptionBuilder& table, Settings& settings) {
    table.group("Output");
    table.add_text("stats", "FILE", settings.stats_file, "write the statistics as JSON");
    table.add_text("output", "DIR", settings.config.output_directory,
                   "write the model's committed output to this folder");
    std::vector<std::string> formats;
    for (const FormatChoice& choice : format_choices()) formats.emplace_back(choice.word);
    OptionSpec& format =
        table.add("output-format", bars(formats), std::string(settings.output_format->word),
                  "format of the output tables at the end of the run; hdf5 has typed columns");
    format.set = [&settings, formats](std::string_view text) {
        settings.output_format = &format_choices()[parse_choice(text, formats)];
    };
    format.value = [&settings] { return json(settings.output_format->word); };
    table.add_text("trace", "FILE", settings.trace_file,
                   "write a timeline of what each worker did, for Perfetto and chrome://tracing");
    table.add_flag("hardware-counters", settings.config.hardware_counters,
                   "count instructions, cache misses and similar events of the event loop, if the "
                   "machine and its kernel permit it");
    table.add_words("progress", settings.progress, progress_words,
                    "show progress in one live line on standard error; in a log, one line per "
                    "minute (on: the first after 10 s)");
    table.add_flag("quiet", settings.quiet, "print errors only");
    table.add_flag("verbose", settings.verbose,
                   "report where the workers run, and the figures of each worker and each counter");
    table
        .add_text("config", "FILE", settings.config_file,
                  "read options from a TOML file; the command line has precedence")
        .value = nullptr;
    table.add_flag("version", settings.version, "print the version and exit").value = nullptr;
    table.add_flag("help", settings.help, "print this help and exit").value = nullptr;
}

}  // namespace

OptionTable::OptionTable(Settings& settings) {
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

std::vector<std::string> OptionTable::names() const {
    std::vector<std::string> names;
    for (const OptionSpec& spec : specs_) names.push_back(spec.name);
    return names;
}

std::string_view word_for(EngineKind kind) noexcept { return word_of(engine_words, kind); }
std::string_view word_for(Rollback rollback) noexcept { return word_of(rollback_words, rollback); }
std::string_view word_for(PlaceMode place) noexcept { return word_of(place_words, place); }

}  // namespace nw
