// SPDX-License-Identifier: Apache-2.0
#include "app/options/setup_rules.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api/event_sink.hpp"
#include "app/options/option_values.hpp"
#include "plan/measure_times.hpp"
#include "util/utf8.hpp"

namespace nw {

namespace {

constexpr std::size_t payload_bytes_limit = 65'535;  // the header has 16 bits for it
constexpr std::size_t name_bytes_max = 200;          // keeps the lines of a report readable

class Rules {
  public:
    explicit Rules(const Model& model) : model_(model) {}

    // A rule for the model's own declarations. The message names the model, because only its author
    // can correct them.
    template <class... Values>
    void demand(bool kept, fmt::format_string<Values...> format, Values&&... values) const {
        if (!kept)
            throw SetupError(fmt::format("model {}: {}", model_.name(),
                                         fmt::format(format, std::forward<Values>(values)...)));
    }

  private:
    const Model& model_;
};

bool is_one_of_ours(Rollback rollback) noexcept {
    return rollback == Rollback::snapshot || rollback == Rollback::copy ||
           rollback == Rollback::reverse;
}

// True if the name can be a file's name: it has no separator of folders, and no zero byte, which
// would end it for the kernel.
bool is_file_name(const std::string& name) noexcept {
    return !name.empty() && name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

// True if a report can show the name unchanged: one_line() would not alter it.
bool is_on_one_line(const std::string& name) {
    return !name.empty() && is_utf8(name) && one_line(name) == name;
}

// Checks the name of a kind or of a measure. `what` is the noun for the message.
void check_name(const Rules& rules, std::string_view what, const std::string& name) {
    rules.demand(name.size() <= name_bytes_max,
                 "{} of {} bytes in its name: must have a name of at most {}", what, name.size(),
                 name_bytes_max);
    rules.demand(is_on_one_line(name),
                 "{} \"{}\": must have a name in UTF-8 without control characters", what,
                 one_line(name));
}

void check_outputs(const Rules& rules, const std::vector<OutputTable>& tables) {
    rules.demand(tables.size() <= detail::output_tables_max, "{} output tables: must be at most {}",
                 tables.size(), detail::output_tables_max);
    std::set<std::string> names;
    for (const OutputTable& table : tables) {
        // c_str(): print the name up to its first zero byte.
        rules.demand(is_file_name(table.name),
                     "output table \"{}\": must have a name that is possible for a file",
                     table.name.c_str());
        rules.demand(is_utf8(table.name), "output table \"{}\": its name must be UTF-8",
                     one_line(table.name));
        for (const std::string& column : table.columns)
            rules.demand(is_utf8(column) && column.find('\0') == std::string::npos,
                         "output table {}: column \"{}\" must be UTF-8 without zero bytes",
                         table.name, one_line(column));
        rules.demand(names.insert(table.name).second, "output table {}: must not be declared twice",
                     table.name);
        rules.demand(!table.columns.empty(), "output table {}: must have at least one column",
                     table.name);
    }
}

// Throws SetupError if the model does not allow the chosen value.
template <class Enum>
void demand_one_of(const char* option, Enum chosen, const std::vector<Enum>& allowed,
                   const std::string& why) {
    if (std::find(allowed.begin(), allowed.end(), chosen) != allowed.end()) return;
    std::vector<std::string> words;
    for (const Enum one : allowed) words.emplace_back(word_for(one));
    throw SetupError(fmt::format("--{} {}: must be {} {}", option, word_for(chosen),
                                 enumerate(words, " or "), why));
}

// Refuses options that have a meaning only together with another option.
void check_needs(const Settings& settings) {
    const Config& config = settings.config;
    const bool time_warp = may_be_timewarp(config);
    const bool in_region = config.memory == MemoryMode::numa;
    const bool is_saved = config.save.on(), goes_on = !settings.restart_directory.empty();
    struct Need {
        const char* option;
        std::string value;
        bool is_used, is_met;
        const char* needed;
    };
    const Need needs[] = {
        {"check-rollback", fmt::format("{}", config.check_rollback), config.check_rollback > 0,
         time_warp, "--engine timewarp"},
        {"trace", settings.trace_file, !settings.trace_file.empty(), time_warp,
         "--engine timewarp"},
        {"checkpoint", config.save.directory, is_saved, in_region, "--memory numa"},
        {"restart", settings.restart_directory, goes_on, in_region, "--memory numa"},
        {"checkpoint-period", fmt::format("{}", config.save.period_seconds),
         settings.given.contains("checkpoint-period"), is_saved, "--checkpoint DIR"},
        {"measure-interval", fmt::format("{}", config.measure_interval),
         config.measure_interval > 0,
         !config.output_directory.empty() || !settings.stats_file.empty(),
         "--output DIR or --stats FILE"},
        {"output-format", std::string(settings.output_format->word),
         settings.output_format != &format_choices().front(), !config.output_directory.empty(),
         "--output DIR"},
        {"place", std::string(word_for(config.place)), config.place != PlaceMode::local, time_warp,
         "--engine timewarp"},
        {"place", std::string(word_for(config.place)), config.place != PlaceMode::local, in_region,
         "--memory numa"},
        {"place", std::string(word_for(config.place)), config.place == PlaceMode::asymsched,
         config.pin, "--pin on"},
        {"machine", config.machine_file, !config.machine_file.empty(),
         config.place != PlaceMode::local && config.place != PlaceMode::interleave,
         "--place weighted, asymsched or auto"},
        {"proximity", fmt::format("{}", config.proximity.value_or(0)), config.proximity.has_value(),
         config.place == PlaceMode::weighted, "--place weighted"},
        {"check-rebind", fmt::format("{}", config.check_rebind), config.check_rebind > 0,
         config.rebind_seconds > 0, "--rebind SECONDS"},
    };
    for (const Need& need : needs)
        if (need.is_used && !need.is_met)
            throw SetupError(fmt::format("--{} {}: needs {}; must be left out here", need.option,
                                         shortened(need.value), need.needed));
}

void check_measure_interval(const Model& model, const Setup& setup, const Config& config,
                            VirtualTime until) {
    const VirtualTime interval = config.measure_interval;
    if (interval == 0) return;
    if (setup.measures.empty())
        throw SetupError(fmt::format(
            "--measure-interval {}: must be left out with model {}, which has no measures",
            interval, model.name()));
    if (std::isinf(until))
        throw SetupError(
            fmt::format("--measure-interval {}: needs an end time, --until", interval));
    const VirtualTime measured = until - config.warm_up;
    const bool is_lost = !(MeasureTimes{config.warm_up, interval}.end_of(0) > config.warm_up);
    if (is_lost || measured / interval > MeasureTimes::intervals_max)
        throw SetupError(fmt::format(
            "--measure-interval {}: must be at least {}, for at most {} intervals", interval,
            measured / MeasureTimes::intervals_max, MeasureTimes::intervals_max));
}

void check_measures(const Model& model, const Rules& rules, const Setup& setup,
                    const Config& config) {
    std::set<std::string> names;
    for (const Measure& measure : setup.measures) {
        check_name(rules, "measure", measure.name);
        rules.demand(names.insert(measure.name).second, "measure {}: must not be declared twice",
                     measure.name);
        rules.demand(measure.look != nullptr, "measure {}: must be created with nw::measure()",
                     measure.name);
    }
    const VirtualTime until = config.until.value_or(setup.until);
    if (config.warm_up >= until)
        throw SetupError(
            fmt::format("--warm-up {}: must be below --until, {}", config.warm_up, until));
    if (config.warm_up > 0 && setup.measures.empty())
        throw SetupError(
            fmt::format("--warm-up {}: must be left out with model {}, which has no measures",
                        config.warm_up, model.name()));
    check_measure_interval(model, setup, config, until);
}

// `where`: the kind of LPs for the message; empty if the model has no named kinds.
void check_kind(const Rules& rules, const Kind& kind, const std::string& where) {
    const ProcessFactory& process = kind.process;
    const Rollback preferred = kind.preferred_rollback.value_or(Rollback::snapshot);
    rules.demand(process.build != nullptr, "{}process: must be set, with nw::process<Lp>()", where);
    rules.demand(
        process.state_bytes == 0 || process.state_of != nullptr,
        "{}process.state_of: must be set if state_bytes ({}) is not 0; nw::process<Lp>() sets both",
        where, process.state_bytes);
    rules.demand(is_one_of_ours(preferred),
                 "{}preferred_rollback {}: must be snapshot, copy or reverse", where,
                 static_cast<int>(preferred));
    rules.demand(preferred != Rollback::copy || process.state_bytes > 0,
                 "{}preferred_rollback copy: needs LPs derived from nw::PlainStateProcess", where);
    rules.demand(preferred != Rollback::reverse || process.has_reverse,
                 "{}preferred_rollback reverse: needs LPs with on_reverse", where);
    // The length of the name is not limited, because the compiler may derive it from the class.
    for (const EventTypeInfo& event : process.events)
        rules.demand(is_on_one_line(event.name),
                     "{}event \"{}\": must have a name in UTF-8 without control characters", where,
                     one_line(event.name));
}

void check_choices(const Model& model, const Setup& setup, const Config& config,
                   std::uint32_t ranks) {
    const Kinds kinds = Kinds::of(setup);
    const auto all = [&](auto&& has) {
        return std::all_of(kinds.all().begin(), kinds.all().end(),
                           [&](const Kind& kind) { return has(kind.process); });
    };
    const bool has_end_condition =
        !all([](const ProcessFactory& p) { return !p.has_end_condition; });
    const std::string with_model = "with model " + model.name();
    if (config.rollback) {
        std::vector<Rollback> allowed{Rollback::snapshot};
        if (all([](const ProcessFactory& p) { return p.state_bytes > 0; }))
            allowed.push_back(Rollback::copy);
        if (all([](const ProcessFactory& p) { return p.has_reverse; }))
            allowed.push_back(Rollback::reverse);
        demand_one_of("rollback", *config.rollback, allowed, with_model);
    }
    if (ranks > 1)
        demand_one_of(
            "place", config.place,
            {PlaceMode::local, PlaceMode::interleave, PlaceMode::weighted, PlaceMode::asymsched},
            fmt::format("on {} ranks", ranks));
    if (ranks > 1)
        demand_one_of("engine", config.engine,
                      {EngineKind::conservative, EngineKind::timewarp, EngineKind::automatic},
                      fmt::format("on {} ranks", ranks));
    if (config.engine == EngineKind::conservative) {
        const std::vector<EngineKind> others{EngineKind::sequential, EngineKind::timewarp,
                                             EngineKind::automatic};
        if (!(setup.lookahead > 0))
            demand_one_of("engine", config.engine, others,
                          with_model + ", which declares no lookahead");
        if (has_end_condition)
            demand_one_of(
                "engine", config.engine, others,
                with_model +
                    ", which ends by can_end(): a lookahead window could run past this end");
    }
    if (!config.until && std::isinf(setup.until) && !has_end_condition)
        throw SetupError(fmt::format(
            "--until: must be given {}, which has neither an end time nor can_end()", with_model));
}

}  // namespace

void check_setup(const Model& model, const Setup& setup, const Settings& settings,
                 std::uint32_t ranks) {
    const Rules rules(model);
    rules.demand(
        !setup.lps.are_named() || setup.process.build == nullptr,
        "process: must be left out if lps is nw::kinds(), which defines a process for each kind");
    rules.demand(setup.lps.count() >= 1, "lps {}: must be at least 1", setup.lps.count());
    rules.demand(setup.until > 0, "until {}: must be above 0", setup.until);
    rules.demand(setup.lookahead >= 0 && std::isfinite(setup.lookahead),
                 "lookahead {}: must be 0 or more, and finite", setup.lookahead);
    rules.demand(setup.payload_bytes_max <= payload_bytes_limit,
                 "payload_bytes_max {}: must be at most {}", setup.payload_bytes_max,
                 payload_bytes_limit);
    const Kinds kinds = Kinds::of(setup);
    for (const Kind& kind : kinds.all()) {
        check_name(rules, "kind", kind.name);
        check_kind(rules, kind, setup.lps.are_named() ? "kind " + kind.name + ": " : "");
    }
    rules.demand(setup.parts.empty() || setup.parts.size() == setup.lps.count(),
                 "parts: must have one entry for each of the {} LPs, or be empty; it has {}",
                 setup.lps.count(), setup.parts.size());
    for (const Link& link : setup.links)
        rules.demand(index(link.a) < setup.lps && index(link.b) < setup.lps,
                     "link of LPs {} and {}: LP numbers must be below lps = {}", index(link.a),
                     index(link.b), setup.lps.count());
    check_outputs(rules, setup.outputs);
    check_measures(model, rules, setup, settings.config);
    check_choices(model, setup, settings.config, ranks);
    check_needs(settings);
}

}  // namespace nw
