#include "options/option_table.hpp"

#include "options/model_options.hpp"
#include "options/option_builder.hpp"
#include "plan/partition.hpp"

namespace nw {

namespace {

using nlohmann::json;

constexpr Word<EngineKind> engine_words[] = {{"sequential", EngineKind::sequential},
                                             {"conservative", EngineKind::conservative},
                                             {"timewarp", EngineKind::timewarp}};
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

constexpr Range legal_time = above(0);
constexpr Range legal_seconds = above(0).to(1e9);
constexpr Range legal_share = from(0).to(1);

void add_engine(OptionBuilder& table, Config& config) {
    table.group("Engine");
    table.add_words(
        "engine", config.engine, engine_words,
        "who runs the model; all give the same result. On several ranks not sequential");
    OptionSpec& workers = table.add_number("workers", "N", config.workers,
                                           from(1).to(Partition::workers_per_rank_max),
                                           "worker threads in each rank");
    workers.standard = "one a core";
    workers.value = [&config] { return number_or(config.workers == 0, "auto", config.workers); };
    OptionSpec& until = table.add("until", "T", "the model's",
                                  "end time in the model's unit: events before it are executed");
    until.legal = legal_time.text();
    until.set = [&config](std::string_view text) {
        config.until = parse_number<VirtualTime>(text, legal_time);
    };
    until.value = [&config] { return config.until ? json(*config.until) : json(nullptr); };
    table.add_number("warm-up", "T", config.warm_up, from(0),
                     "measures of the model are of what happens from this time on");
    table.add_number_or(
        "measure-interval", "T", "off", config.measure_interval, legal_time,
        "measures are also written for each such part of the run, from --warm-up on");
    table.add_number("seed", "N", config.seed, {}, "one number that fixes the whole run");
    table.add_words("pin", config.pin, switch_words, "bind workers to cores");
    table.add_words("net-thread", config.net_thread, switch_words,
                    "a thread of its own in each rank for what goes between ranks");
    table.add_number_or("watchdog", "SECONDS", "off", config.watchdog_seconds, legal_seconds,
                        "say which handler, or which rank, is waited for when it takes longer, "
                        "and at which virtual time events follow each other without end");
    table.add_number_or("handler-timeout", "SECONDS", "off", config.handler_timeout_seconds,
                        legal_seconds,
                        "end the run when a handler that will not be undone takes longer");
}

void add_gvt_interval(OptionBuilder& table, Config& config) {
    static constexpr std::string_view events_suffix = "ev";
    static constexpr double never_ms = 1e9;
    const auto legal_ms = above(0).to(60'000);
    const auto legal_events = from(1).to(1e9);
    OptionSpec& interval = table.add("gvt-interval", "MS|Nev|auto", "auto",
                                     "milliseconds, or events of a worker as 2000ev, between "
                                     "computations of global virtual time");
    interval.legal = legal_ms.text();
    interval.set = [&config, legal_ms, legal_events](std::string_view text) {
        config.gvt_interval_ms = 1;
        config.gvt_interval_events = default_gvt_interval_events;
        if (text == "auto") return;
        if (text.ends_with(events_suffix)) {
            text.remove_suffix(events_suffix.size());
            config.gvt_interval_events = parse_number<std::uint32_t>(text, legal_events);
            config.gvt_interval_ms = never_ms;
            return;
        }
        config.gvt_interval_ms =
            parse_number<double>(text, legal_ms, "events of a worker as 2000ev, or auto");
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
    table.add_words("rollback", config.rollback, rollback_words, "how states are restored")
        .standard = "what the model prefers";
    table.add_number_or("state-saving-interval", "N", "auto", config.state_saving_interval,
                        from(1).to(1e9), "events of an LP between two saved states");
    add_gvt_interval(table, config);
    OptionSpec& window = table.add("window", "T|auto|off", "auto",
                                   "how far beyond global virtual time a worker may run");
    window.legal = legal_time.text();
    window.set = [&config](std::string_view text) {
        config.window = time_infinity;
        config.window_mode = text == "auto" ? WindowMode::automatic : WindowMode::off;
        if (text == "auto" || text == "off") return;
        config.window_mode = WindowMode::fixed;
        config.window = parse_number<VirtualTime>(text, legal_time, "auto, or off");
    };
    window.value = [&config] {
        if (config.window_mode == WindowMode::fixed) return json(config.window);
        return json(config.window_mode == WindowMode::off ? "off" : "auto");
    };
    table.add_words(
        "keep-safe-events", config.keep_safe_events, switch_words,
        "keep the past of events that nothing can undo any more, as of all others: to see "
        "what keeping it costs");
    table.add_number_or("lps-per-group", "N", "auto", config.lps_per_group,
                        from(1).to(Partition::lps_per_group_most),
                        "LPs that share memory pages and move together");
    table.add_number_or("rebind", "SECONDS", "off", config.rebind_seconds, legal_period,
                        "how often LP groups are rebalanced over the workers");
    table.add_words("rebind-ranks", config.rebind_ranks, switch_words,
                    "rebalance LP groups over ranks, too, where --memory is numa");
    table.add_number(
        "check-rollback", "P", config.check_rollback, legal_share,
        "force a rollback after a share P of the events and check that the state comes back equal");
    table.add_number(
        "check-interrupt", "P", config.check_interrupt, legal_share,
        "put a share P of the events aside until global virtual time reaches them, as if "
        "their handlers had been interrupted");
    table.add_number("check-rebind", "P", config.check_rebind, legal_share,
                     "move a share P of the groups, drawn at random, whenever they are rebalanced");
}

void add_check_model(OptionBuilder& table, Settings& settings) {
    table.group("Checking a model");
    static constexpr std::uint64_t events_standard = 20'000;
    const auto legal_events = from(1).to(1e9);
    OptionSpec& check = table.add(
        "check-model", "", "",
        "run the model's beginning in several ways, say which rule it breaks, and leave; "
        "--check-model=N takes its first N events, else 20000, or what a second is enough for");
    check.set = [&settings, legal_events](std::string_view text) {
        settings.check_model_events =
            text == "on"    ? events_standard
            : text == "off" ? 0
                            : parse_number<std::uint64_t>(text, legal_events, "on, or off");
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
                    "segments placed by NUMA node, or plain malloc");
    table.add_words("huge-pages", config.huge_pages, huge_page_words,
                    "transparent huge pages for the segments; auto: in large groups with --place "
                    "local");
    table.add_words("protect-shared", config.protect_shared, switch_words,
                    "what setup() makes is read-only while handlers run: one that writes there has "
                    "failed");
    table.add_words("check-heap", config.check_heap, switch_words,
                    "guards around every block that LPs allocate: find writes beyond them");
    table.add_words(
        "place", config.place, place_words,
        "pages on their worker's node, on all nodes evenly, or on all nodes by the "
        "bandwidth that workers have to them; asymsched: on their worker's node, and "
        "workers on the nodes whose links serve their traffic best; auto: weighted where "
        "bandwidth is the limit of a run on some of the nodes, else local");
    table.add_text(
        "machine", "FILE", config.machine_file,
        "bandwidths between the machine's nodes, as JSON, or FILE#NAME for one of several "
        "machines; without it what ./jobs/run machine measured, else what firmware says");
    OptionSpec& proximity = table.add(
        "proximity", "SHARE|auto", "auto",
        "with --place weighted: so much of what is due to nodes without workers is on those with "
        "workers instead; auto: what makes the run fastest, found while it runs");
    proximity.legal = legal_share.text();
    proximity.set = [&config](std::string_view text) {
        config.proximity.reset();
        if (text != "auto") config.proximity = parse_number<double>(text, legal_share, "auto");
    };
    proximity.value = [&config] {
        return config.proximity ? json(*config.proximity) : json("auto");
    };
    OptionSpec& pagemigd = table.add("pagemigd", "THREADS@SECONDS|auto|off", "auto",
                                     "threads and period of the daemon that moves pages to their "
                                     "worker's node; auto: 1@1 on several nodes, else off");
    pagemigd.set = [&config](std::string_view text) { config.pagemigd = parse_pagemigd(text); };
    pagemigd.value = [&config] { return json(text_of(config.pagemigd)); };
    OptionSpec& cap =
        table.add("memory-cap", "SIZE", "80 % of what is free",
                  "memory that the run may take in a rank, as 8G; it slows down rather than dies");
    cap.set = [&config](std::string_view text) {
        config.memory_cap_bytes = parse_size(text, std::uint64_t{1} << 20);
    };
    cap.value = [&config] {
        return number_or(config.memory_cap_bytes == 0, "auto", config.memory_cap_bytes);
    };
}

void add_long_runs(OptionBuilder& table, Settings& settings) {
    table.group("Long runs");
    table.add_text(
        "checkpoint", "DIR", settings.config.save.directory,
        "save the whole run there now and then, and when SIGTERM, SIGUSR1 or SIGHUP comes, which "
        "then ends it with exit code 0");
    table.add_number("checkpoint-period", "S", settings.config.save.period_seconds, legal_seconds,
                     "seconds of wall time between two such checkpoints");
    table.add_text("restart", "DIR", settings.restart_directory,
                   "go on from the last checkpoint there; same command line otherwise, but for the "
                   "numbers of workers and ranks");
}

void add_output(OptionBuilder& table, Settings& settings) {
    table.group("Output");
    table.add_text("stats", "FILE", settings.stats_file, "write the statistics as JSON");
    table.add_text("output", "DIR", settings.config.output_directory,
                   "write the model's committed output");
    std::vector<std::string> formats;
    for (const FormatChoice& choice : format_choices()) formats.emplace_back(choice.word);
    OptionSpec& format =
        table.add("output-format", bars(formats), std::string(settings.output_format->word),
                  "of its tables when the run is over; hdf5 has typed columns");
    format.set = [&settings, formats](std::string_view text) {
        settings.output_format = &format_choices()[parse_choice(text, formats)];
    };
    format.value = [&settings] { return json(settings.output_format->word); };
    table.add_text("trace", "FILE", settings.trace_file,
                   "write what each worker did when, for Perfetto and chrome://tracing");
    table.add_flag(
        "hardware-counters", settings.config.hardware_counters,
        "count instructions, cache misses and the like of the event loop, where the machine "
        "and its kernel let us");
    table.add_words(
        "progress", settings.progress, progress_words,
        "one live line on standard error; in a log a line a minute (on: first after 10 s)");
    table.add_flag("quiet", settings.quiet, "print errors only");
    table.add_flag("verbose", settings.verbose,
                   "say where the workers run, and report each of them and every counter");
    table
        .add_text("config", "FILE", settings.config_file,
                  "read options from a TOML file; the command line comes first")
        .value = nullptr;
    table.add_flag("version", settings.version, "print the version and leave").value = nullptr;
    table.add_flag("help", settings.help, "print this and leave").value = nullptr;
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
