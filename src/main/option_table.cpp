#include "main/option_table.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "main/option_values.hpp"

namespace nw {

namespace {

using nlohmann::json;

template <class Enum>
struct Word {
    const char* text;
    Enum value;
};

constexpr Word<EngineKind> engine_words[] = {{"sequential", EngineKind::sequential},
                                             {"conservative", EngineKind::conservative},
                                             {"timewarp", EngineKind::timewarp}};
constexpr Word<Rollback> rollback_words[] = {
    {"snapshot", Rollback::snapshot}, {"copy", Rollback::copy}, {"reverse", Rollback::reverse}};
constexpr Word<MemoryMode> memory_words[] = {{"numa", MemoryMode::numa},
                                             {"libc", MemoryMode::libc}};
constexpr Word<HugePages> huge_page_words[] = {
    {"auto", HugePages::automatic}, {"on", HugePages::on}, {"off", HugePages::off}};
constexpr Word<ProgressMode> progress_words[] = {
    {"auto", ProgressMode::automatic}, {"on", ProgressMode::on}, {"off", ProgressMode::off}};
constexpr Word<OutputFormat> output_format_words[] = {
    {"csv", OutputFormat::csv}, {"hdf5", OutputFormat::hdf5}, {"both", OutputFormat::both}};
constexpr Word<bool> switch_words[] = {{"on", true}, {"off", false}};

template <class Enum, std::size_t N>
std::string_view word_of(const Word<Enum> (&words)[N], Enum value) noexcept {
    for (const auto& word : words)
        if (word.value == value) return word.text;
    return "?";
}

std::string bars(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, "|"));
}

// What "auto" and the like are called in the statistics; everything else is a number there.
json number_or(bool is_word, const char* word, const json& number) {
    return is_word ? json(word) : number;
}

// Fills the table: one call an option. Groups are headings, set once and then kept.
class Builder {
  public:
    explicit Builder(std::vector<OptionSpec>& specs) : specs_(specs) {}

    void group(std::string heading) { group_ = std::move(heading); }

    OptionSpec& add(std::string name, std::string values, std::string standard, std::string help) {
        specs_.push_back({std::move(name),
                          std::move(values),
                          group_,
                          std::move(help),
                          std::move(standard),
                          {},
                          {}});
        return specs_.back();
    }

    template <class Enum, std::size_t N>
    OptionSpec& add_words(std::string name, Enum& target, const Word<Enum> (&words)[N],
                          std::string help) {
        std::vector<std::string> texts;
        for (const auto& word : words) texts.emplace_back(word.text);
        OptionSpec& spec =
            add(std::move(name), bars(texts), std::string(word_of(words, target)), std::move(help));
        spec.set = [&target, &words, texts](std::string_view text) {
            target = words[parse_choice(text, texts)].value;
        };
        spec.value = [&target, &words] { return json(word_of(words, target)); };
        return spec;
    }

    OptionSpec& add_flag(std::string name, bool& target, std::string help) {
        OptionSpec& spec = add(std::move(name), "", target ? "on" : "", std::move(help));
        spec.set = [&target](std::string_view text) {
            target = parse_choice(text, {"on", "off"}) == 0;
        };
        spec.value = [&target] { return json(target); };
        return spec;
    }

    // A share: a number from 0 to 1.
    void add_share(std::string name, double& target, std::string help) {
        OptionSpec& spec = add(std::move(name), "P", fmt::format("{}", target), std::move(help));
        spec.set = [&target](std::string_view text) {
            target = parse_number_in(text, 0, Bound::included, 1);
        };
        spec.value = [&target] { return json(target); };
    }

    OptionSpec& add_text(std::string name, std::string values, std::string& target,
                         std::string help) {
        OptionSpec& spec = add(std::move(name), std::move(values), target, std::move(help));
        spec.set = [&target](std::string_view text) { target = text; };
        spec.value = [&target] { return target.empty() ? json(nullptr) : json(target); };
        return spec;
    }

    // A whole number from 1, or a word that stands for 0.
    OptionSpec& add_count_or(std::string name, const char* word, std::uint32_t& target,
                             std::uint32_t most, std::string help) {
        OptionSpec& spec = add(std::move(name), fmt::format("N|{}", word), word, std::move(help));
        spec.set = [&target, word, most](std::string_view text) {
            target = text == word ? 0 : whole_or_word(text, word, most);
        };
        spec.value = [&target, word] { return number_or(target == 0, word, target); };
        return spec;
    }

  private:
    static std::uint32_t whole_or_word(std::string_view text, const char* word,
                                       std::uint32_t most) {
        try {
            return static_cast<std::uint32_t>(parse_whole(text, 1, most));
        } catch (const IllegalValue& illegal) {
            throw IllegalValue(fmt::format("{}, or {}", illegal.what(), word));
        }
    }

    std::vector<OptionSpec>& specs_;
    std::string group_;
};

void add_engine(Builder& table, Config& config) {
    table.group("Engine");
    table.add_words("engine", config.engine, engine_words,
                    "who runs the model; all give the same result");
    OptionSpec& workers = table.add("workers", "N", "one a core", "worker threads in each rank");
    workers.set = [&config](std::string_view text) {
        config.workers = static_cast<std::uint32_t>(parse_whole(text, 1, 4096));
    };
    workers.value = [&config] { return number_or(config.workers == 0, "auto", config.workers); };
    OptionSpec& until = table.add("until", "T", "the model's",
                                  "end time in the model's unit: events before it are executed");
    until.set = [&config](std::string_view text) {
        config.until = parse_number_in(text, 0, Bound::excluded, time_infinity);
    };
    until.value = [&config] { return config.until ? json(*config.until) : json(nullptr); };
    OptionSpec& seed = table.add("seed", "N", fmt::format("{}", config.seed),
                                 "one number that fixes the whole run");
    seed.set = [&config](std::string_view text) {
        config.seed = parse_whole(text, 0, std::numeric_limits<std::uint64_t>::max());
    };
    seed.value = [&config] { return json(config.seed); };
    table.add_words("pin", config.pin, switch_words, "bind workers to cores");
    table.add_words("net-thread", config.net_thread, switch_words,
                    "a thread of its own in each rank for what goes between ranks");
    OptionSpec& watchdog =
        table.add("watchdog", "SECONDS|off", fmt::format("{}", config.watchdog_seconds),
                  "say who is waited for when a computation of GVT takes longer");
    watchdog.set = [&config](std::string_view text) {
        config.watchdog_seconds =
            text == "off" ? 0 : parse_number_in(text, 0, Bound::excluded, 1e9);
    };
    watchdog.value = [&config] {
        return number_or(config.watchdog_seconds == 0, "off", config.watchdog_seconds);
    };
}

void add_time_warp(Builder& table, Config& config) {
    table.group("Time Warp");
    OptionSpec& rollback = table.add("rollback", "snapshot|copy|reverse", "what the model prefers",
                                     "how states are restored");
    rollback.set = [&config](std::string_view text) {
        config.rollback = rollback_words[parse_choice(text, {"snapshot", "copy", "reverse"})].value;
    };
    rollback.value = [&config] {
        return config.rollback ? json(word_for(*config.rollback)) : json(nullptr);
    };
    table.add_count_or("checkpoint-every", "auto", config.checkpoint_every, 1'000'000'000,
                       "events of an LP between two checkpoints");
    OptionSpec& interval =
        table.add("gvt-interval", "MS", fmt::format("{}", config.gvt_interval_ms),
                  "milliseconds between computations of global virtual time");
    interval.set = [&config](std::string_view text) {
        config.gvt_interval_ms = parse_number_in(text, 0, Bound::excluded, 60'000);
    };
    interval.value = [&config] { return json(config.gvt_interval_ms); };
    OptionSpec& window = table.add("window", "T|auto|off", "auto",
                                   "how far beyond global virtual time a worker may run");
    window.set = [&config](std::string_view text) {
        config.window = time_infinity;
        config.window_mode = text == "auto" ? WindowMode::automatic : WindowMode::off;
        if (text == "auto" || text == "off") return;
        config.window_mode = WindowMode::fixed;
        try {
            config.window = parse_number_in(text, 0, Bound::excluded, time_infinity);
        } catch (const IllegalValue& illegal) {
            throw IllegalValue(fmt::format("{}; or auto, or off", illegal.what()));
        }
    };
    window.value = [&config] {
        if (config.window_mode == WindowMode::fixed) return json(config.window);
        return json(config.window_mode == WindowMode::off ? "off" : "auto");
    };
    table.add_count_or("lps-per-group", "auto", config.lps_per_group,
                       std::numeric_limits<std::uint32_t>::max(),
                       "LPs that share memory pages and move together");
    OptionSpec& rebind =
        table.add("rebind", "SECONDS|off", fmt::format("{}", config.rebind_seconds),
                  "how often LP groups are rebalanced over the workers");
    rebind.set = [&config](std::string_view text) {
        config.rebind_seconds = text == "off" ? 0 : parse_seconds_or(text, "off");
    };
    rebind.value = [&config] {
        return number_or(config.rebind_seconds == 0, "off", config.rebind_seconds);
    };
    table.add_share(
        "check-rollback", config.check_rollback,
        "force a rollback after a share P of the events and check that the state comes back equal");
    table.add_share("check-rebind", config.check_rebind,
                    "move a share P of the groups, drawn at random, whenever they are rebalanced");
}

std::string text_of(const PagemigdOptions& pagemigd) {
    if (pagemigd.automatic) return "auto";
    if (pagemigd.threads == 0) return "off";
    return fmt::format("{}@{}", pagemigd.threads, pagemigd.period_seconds);
}

void add_memory(Builder& table, Config& config) {
    table.group("Memory");
    table.add_words("memory", config.memory, memory_words,
                    "segments placed by NUMA node, or plain malloc");
    table.add_words("huge-pages", config.huge_pages, huge_page_words,
                    "transparent huge pages for the segments");
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

void add_long_runs(Builder& table, Settings& settings) {
    table.group("Long runs");
    table.add_text(
        "checkpoint", "DIR", settings.config.save.directory,
        "save the whole run there now and then, and when SIGTERM or SIGUSR1 comes, which "
        "then ends it with exit code 0");
    OptionSpec& every = table.add("checkpoint-every-seconds", "S",
                                  fmt::format("{}", settings.config.save.every_seconds),
                                  "seconds of wall time between two such checkpoints");
    every.set = [&settings](std::string_view text) {
        settings.config.save.every_seconds = parse_number_in(text, 0, Bound::excluded, 1e9);
        settings.config.save.every_given = true;
    };
    every.value = [&settings] { return json(settings.config.save.every_seconds); };
    table.add_text("restart", "DIR", settings.restart_directory,
                   "go on from the last checkpoint there; same command line otherwise, but for the "
                   "numbers of workers and ranks");
}

void add_output(Builder& table, Settings& settings) {
    table.group("Output");
    table.add_text("stats", "FILE", settings.stats_file, "write the statistics as JSON");
    table.add_text("output", "DIR", settings.config.output_directory,
                   "write the model's committed output");
    table.add_words("output-format", settings.output_format, output_format_words,
                    "of its tables when the run is over; hdf5 has typed columns");
    table.add_text("trace", "FILE", settings.trace_file,
                   "write what each worker did when, for Perfetto and chrome://tracing");
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

// The model's side of the table.
class ModelOptions final : public Options {
  public:
    ModelOptions(Builder& table) : table_(table) {}

    void add(const std::string& name, double& value, const std::string& help) override {
        OptionSpec& spec = table_.add(name, "X", fmt::format("{}", value), help);
        spec.set = [&value](std::string_view text) { value = parse_number(text); };
        spec.value = [&value] { return json(value); };
    }
    void add(const std::string& name, std::uint32_t& value, const std::string& help) override {
        add_whole(name, value, help);
    }
    void add(const std::string& name, std::uint64_t& value, const std::string& help) override {
        add_whole(name, value, help);
    }
    void add(const std::string& name, std::string& value, const std::string& help) override {
        table_.add_text(name, "TEXT", value, help);
    }
    void add_flag(const std::string& name, bool& value, const std::string& help) override {
        table_.add_flag(name, value, help);
    }
    void add_choice(const std::string& name, std::string& value,
                    const std::vector<std::string>& words, const std::string& help) override {
        OptionSpec& spec = table_.add(name, bars(words), value, help);
        spec.set = [&value, words](std::string_view text) {
            value = words[parse_choice(text, words)];
        };
        spec.value = [&value] { return json(value); };
    }

  private:
    template <class Whole>
    void add_whole(const std::string& name, Whole& value, const std::string& help) {
        OptionSpec& spec = table_.add(name, "N", fmt::format("{}", value), help);
        spec.set = [&value](std::string_view text) {
            value = static_cast<Whole>(parse_whole(text, 0, std::numeric_limits<Whole>::max()));
        };
        spec.value = [&value] { return json(value); };
    }

    Builder& table_;
};

}  // namespace

OptionTable::OptionTable(Settings& settings) {
    Builder table(specs_);
    add_engine(table, settings.config);
    add_time_warp(table, settings.config);
    add_memory(table, settings.config);
    add_long_runs(table, settings);
    add_output(table, settings);
}

OptionTable::OptionTable(Settings& settings, Model& model) : OptionTable(settings) {
    Builder table(specs_);
    engine_options_ = specs_.size();
    table.group("Model: " + model.name());
    ModelOptions options(table);
    model.options(options);
    for (auto spec = specs_.begin(); spec != specs_.end(); ++spec)
        if (find(spec->name) != &*spec)
            throw SetupError(fmt::format("model {}: its option --{} has a name that is taken",
                                         model.name(), spec->name));
}

const OptionSpec* OptionTable::find(std::string_view name) const noexcept {
    const auto found = std::find_if(specs_.begin(), specs_.end(),
                                    [name](const OptionSpec& spec) { return spec.name == name; });
    return found == specs_.end() ? nullptr : &*found;
}

std::vector<std::string> OptionTable::names() const {
    std::vector<std::string> names;
    for (const OptionSpec& spec : specs_) names.push_back(spec.name);
    return names;
}

std::string_view word_for(EngineKind kind) noexcept { return word_of(engine_words, kind); }
std::string_view word_for(Rollback rollback) noexcept { return word_of(rollback_words, rollback); }
std::string_view word_for(OutputFormat format) noexcept {
    return word_of(output_format_words, format);
}

}  // namespace nw
