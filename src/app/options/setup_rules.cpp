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
#include "numa/place/placement_policy.hpp"
#include "plan/measure_times.hpp"
#include "util/utf8.hpp"

namespace nw {

namespace {

constexpr std::size_t payload_bytes_limit = 65'535;  // the header has 16 bits for it
constexpr std::size_t name_bytes_max = 200;          // keeps the lines of a report readable

class Rules {
  public:
    explicit Rules(const Model& model) : model_(model) {}

    // Checks a rule for the declarations of the model. The message names the model, because only
    // the author of the model can correct the declarations.
    template <class... Values>
    void demand(bool kept, fmt::format_string<Values...> format, Values&&... values) const {
        if (!kept)
            throw SetupError(fmt::format("model {}: {}", model_.name(),
                                         fmt::format(format, std::forward<Values>(values)...)));
    }

  private:
    const Model& model_;
};

// True if the name can be a file's name: it contains no "/", which separates folders, and no zero
// byte, at which the kernel would end the name.
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
                 "{} with a name of {} bytes: must have a name of at most {} bytes", what,
                 name.size(), name_bytes_max);
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

// Throws SetupError if the value of the option is not one of the allowed words.
void demand_one_of(const OptionSpec& option, const std::vector<std::string>& allowed,
                   const std::string& why) {
    if (std::ranges::find(allowed, option.text()) == allowed.end())
        throw SetupError(
            fmt::format("{}: must be {} {}", option.with_value(), enumerate(allowed, " or "), why));
}

std::vector<std::string> engines_besides(EngineKind kind) {
    std::vector<std::string> words;
    for (const EngineKind other : {EngineKind::sequential, EngineKind::conservative,
                                   EngineKind::timewarp, EngineKind::automatic})
        if (other != kind) words.emplace_back(word_for(other));
    return words;
}

// Refuses an option that needs another option if the other option is not given.
void check_needs(const OptionTable& table) {
    const Config& config = table.settings().config;
    const bool time_warp = may_be_timewarp(config);
    for (const OptionSpec& spec : table.specs()) {
        if (!table.is_wanted(spec)) continue;
        const auto demand = [&](bool is_met, const std::string& needed) {
            if (!is_met)
                throw SetupError(fmt::format("{} {}: needs {}; must be left out here",
                                             spec.dashed(), shortened(spec.text()), needed));
        };
        if (spec.rules.role.engines == Engines::others_refuse)
            demand(time_warp, fmt::format("{} {}", table.option_of(&config.engine).dashed(),
                                          word_for(EngineKind::timewarp)));
        for (const OptionNeed& need : spec.rules.needs)
            demand(need.is_met(table.settings()), need.needed);
    }
}

void check_measure_interval(const OptionTable& table, VirtualTime until) {
    const Config& config = table.settings().config;
    const VirtualTime interval = config.measure_interval;
    if (interval == 0) return;
    const std::string given = table.option_of(&config.measure_interval).with_value();
    if (std::isinf(until))
        throw SetupError(fmt::format("{}: needs an end time, {}", given,
                                     table.option_of(&config.until).dashed()));
    const VirtualTime measured = until - config.warm_up;
    const bool is_lost = !(MeasureTimes{config.warm_up, interval}.end_of(0) > config.warm_up);
    if (is_lost || measured / interval > MeasureTimes::intervals_max)
        throw SetupError(
            fmt::format("{}: must be at least {}, so that there are at most {} intervals", given,
                        measured / MeasureTimes::intervals_max, MeasureTimes::intervals_max));
}

void check_measures(const Model& model, const Rules& rules, const Setup& setup,
                    const OptionTable& table) {
    const Config& config = table.settings().config;
    std::set<std::string> names;
    for (const Measure& measure : setup.measures) {
        check_name(rules, "measure", measure.name);
        rules.demand(names.insert(measure.name).second, "measure {}: must not be declared twice",
                     measure.name);
        rules.demand(measure.sample != nullptr, "measure {}: must be created with nw::measure()",
                     measure.name);
    }
    const VirtualTime until = config.until.value_or(setup.until);
    if (config.warm_up >= until)
        throw SetupError(fmt::format("{}: must be below {}, {}",
                                     table.option_of(&config.warm_up).with_value(),
                                     table.option_of(&config.until).dashed(), until));
    for (const VirtualTime* const value : {&config.warm_up, &config.measure_interval})
        if (*value > 0 && setup.measures.empty())
            throw SetupError(
                fmt::format("{}: must be left out with model {}, which has no measures",
                            table.option_of(value).with_value(), model.name()));
    check_measure_interval(table, until);
}

// `where`: the kind of LPs for the message; empty if the model has no named kinds.
void check_kind(const Rules& rules, const Kind& kind, const std::string& where) {
    const ProcessFactory& process = kind.process;
    const RollbackMethod* const preferred = kind.preferred_rollback
                                                ? find_rollback_method(*kind.preferred_rollback)
                                                : rollback_methods().front();
    rules.demand(process.build != nullptr, "{}process: must be set, with nw::process<Lp>()", where);
    rules.demand(
        process.state_bytes == 0 || process.state_of != nullptr,
        "{}process.state_of: must be set if state_bytes ({}) is not 0; nw::process<Lp>() sets both",
        where, process.state_bytes);
    if (preferred == nullptr) {
        std::vector<std::string> words;
        for (const RollbackMethod* const method : rollback_methods())
            words.emplace_back(method->word);
        rules.demand(false, "{}preferred_rollback {}: must be {}", where,
                     static_cast<int>(*kind.preferred_rollback), enumerate(words, " or "));
    }
    rules.demand(preferred->supports(process), "{}preferred_rollback {}: needs {}", where,
                 preferred->word, preferred->needs);
    // The length of the name is not limited, because the compiler may derive it from the class.
    for (const EventTypeInfo& event : process.events)
        rules.demand(is_on_one_line(event.name),
                     "{}event \"{}\": must have a name in UTF-8 without control characters", where,
                     one_line(event.name));
}

void check_choices(const Model& model, const Setup& setup, const OptionTable& table,
                   std::uint32_t ranks) {
    const Config& config = table.settings().config;
    const Kinds kinds = Kinds::of(setup);
    const bool has_end_condition = std::ranges::any_of(
        kinds.all(), [](const Kind& kind) { return kind.process.has_end_condition; });
    const std::string with_model = "with model " + model.name();
    if (config.rollback) {
        std::vector<std::string> allowed;
        for (const RollbackMethod* const method : supported_methods(kinds))
            allowed.emplace_back(method->word);
        demand_one_of(table.option_of(&config.rollback), allowed, with_model);
    }
    const OptionSpec& engine = table.option_of(&config.engine);
    if (ranks > 1) {
        const std::string on_ranks = fmt::format("on {} ranks", ranks);
        std::vector<std::string> policies;
        for (const PlacementChoice* const choice : placement_choices)
            if (!choice->one_rank_only) policies.emplace_back(choice->word);
        demand_one_of(table.option_of(&config.place), policies, on_ranks);
        demand_one_of(engine, engines_besides(EngineKind::sequential), on_ranks);
    }
    const bool is_conservative = config.engine == EngineKind::conservative;
    const std::vector<std::string> others = engines_besides(EngineKind::conservative);
    if (is_conservative && !(setup.lookahead > 0))
        demand_one_of(engine, others, with_model + ", which declares no lookahead");
    if (is_conservative && has_end_condition)
        demand_one_of(
            engine, others,
            with_model + ", which ends by can_end(): a lookahead window could run past this end");
    if (!config.until && std::isinf(setup.until) && !has_end_condition)
        throw SetupError(
            fmt::format("{}: must be given {}, which has neither an end time nor can_end()",
                        table.option_of(&config.until).dashed(), with_model));
}

}  // namespace

std::vector<const RollbackMethod*> supported_methods(const Kinds& kinds) {
    std::vector<const RollbackMethod*> methods;
    std::ranges::copy_if(
        rollback_methods(), std::back_inserter(methods), [&](const RollbackMethod* method) {
            return std::ranges::all_of(
                kinds.all(), [&](const Kind& kind) { return method->supports(kind.process); });
        });
    return methods;
}

void check_setup(const Model& model, const Setup& setup, const OptionTable& table,
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
    check_measures(model, rules, setup, table);
    check_choices(model, setup, table, ranks);
    check_needs(table);
}

}  // namespace nw
