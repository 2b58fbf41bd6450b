// SPDX-License-Identifier: Apache-2.0
// Options that have no effect in a run because of other choices. If the user has given such an
// option, a notice reports this. The statistics do not list the option as in force.
#include <algorithm>

#include <fmt/format.h>

#include "app/options/option_table.hpp"

namespace nw {

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
        return shape.is_conservative
                   ? "the conservative engine, which --engine auto has chosen"
                   : fmt::format("--engine {}", word_for(settings_.config.engine));
    for (const IdleCondition& condition : spec.rules.idle)
        if (condition.holds(settings_, shape)) return condition.name;
    return {};
}

std::vector<std::string> OptionTable::idle_notices(const RunShape& shape) const {
    std::vector<std::string> notices;
    for (const OptionSpec& spec : specs_)
        if (const std::string why = why_idle(spec, shape); is_wanted(spec) && !why.empty())
            notices.push_back(
                fmt::format("--{} {}: has no effect with {}", spec.name, spec.text(), why));
    return notices;
}

std::string OptionTable::option_for_timewarp() const {
    for (const OptionSpec& spec : specs_)
        if (spec.rules.role.engines != Engines::all && settings_.given.contains(spec.name) &&
            spec.text() != spec.standard)
            return fmt::format("--{} {}", spec.name, spec.text());
    return {};
}

}  // namespace nw
