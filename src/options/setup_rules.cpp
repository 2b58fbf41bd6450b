#include "options/setup_rules.hpp"

#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "lp/history.hpp"
#include "options/option_table.hpp"
#include "options/option_values.hpp"

namespace nw {

namespace {

constexpr std::size_t payload_bytes_limit = 65'535;  // what an event's header can say

class Rules {
  public:
    explicit Rules(const Model& model) : model_(model) {}

    // What is wrong with what the model says of itself: only its author can mend it.
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

// No folder in it, and no end of it where the kernel would see one.
bool can_be_a_files(const std::string& name) noexcept {
    return !name.empty() && name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

void check_outputs(const Rules& rules, const std::vector<OutputTable>& tables) {
    rules.demand(tables.size() <= SideEffect::tables_max, "{} output tables: must be at most {}",
                 tables.size(), SideEffect::tables_max);
    std::set<std::string> names;
    for (const OutputTable& table : tables) {
        // What ends a C string would end the message.
        rules.demand(can_be_a_files(table.name),
                     "output table \"{}\": must have a name that can be a file's",
                     table.name.c_str());
        rules.demand(is_utf8(table.name), "output table \"{}\": its name must be UTF-8",
                     one_line(table.name));
        for (const std::string& column : table.columns)
            rules.demand(is_utf8(column) && column.find('\0') == std::string::npos,
                         "output table {}: column \"{}\" must be UTF-8, with no zero byte in it",
                         table.name, one_line(column));
        rules.demand(names.insert(table.name).second, "output table {}: must not be there twice",
                     table.name);
        rules.demand(!table.columns.empty(), "output table {}: must have at least one column",
                     table.name);
    }
}

void check_choices(const Model& model, const Setup& setup, const Config& config) {
    const ProcessFactory& process = setup.process;
    if (config.rollback) {
        std::vector<std::string> legal{"snapshot"};
        if (process.state_bytes > 0) legal.emplace_back("copy");
        if (process.has_reverse) legal.emplace_back("reverse");
        const std::string word(word_for(*config.rollback));
        if (std::find(legal.begin(), legal.end(), word) == legal.end())
            throw SetupError(fmt::format("--rollback {}: must be {} with model {}", word,
                                         enumerate(legal, " or "), model.name()));
    }
    if (config.engine == EngineKind::conservative && !(setup.lookahead > 0))
        throw SetupError(fmt::format(
            "--engine conservative: must be sequential or timewarp with model {}, which declares "
            "no lookahead",
            model.name()));
    if (config.check_rebind > 0 && config.rebind_seconds == 0)
        throw SetupError(
            fmt::format("--check-rebind {}: must be 0 with --rebind off, since "
                        "groups move only when they are rebalanced",
                        config.check_rebind));
    if (!config.until && std::isinf(setup.until) && !process.has_end_condition)
        throw SetupError(fmt::format(
            "--until: must be given with model {}, which has no end of its own", model.name()));
}

}  // namespace

void check_setup(const Model& model, const Setup& setup, const Config& config) {
    const Rules rules(model);
    const ProcessFactory& process = setup.process;
    rules.demand(process.build != nullptr, "process: must be set, with nw::process<Lp>()");
    rules.demand(setup.lps >= 1, "lps {}: must be at least 1", setup.lps);
    rules.demand(setup.until > 0, "until {}: must be above 0", setup.until);
    rules.demand(setup.lookahead >= 0 && std::isfinite(setup.lookahead),
                 "lookahead {}: must be 0 or more, and finite", setup.lookahead);
    rules.demand(setup.payload_bytes_max <= payload_bytes_limit,
                 "payload_bytes_max {}: must be at most {}", setup.payload_bytes_max,
                 payload_bytes_limit);
    rules.demand(process.state_bytes == 0 || process.state_of != nullptr,
                 "process.state_of: must be set where state_bytes ({}) is not 0; nw::process<Lp>() "
                 "sets both",
                 process.state_bytes);
    rules.demand(is_one_of_ours(setup.preferred_rollback),
                 "preferred_rollback {}: must be snapshot, copy or reverse",
                 static_cast<int>(setup.preferred_rollback));
    rules.demand(setup.preferred_rollback != Rollback::copy || process.state_bytes > 0,
                 "preferred_rollback copy: needs LPs derived from nw::PlainStateProcess");
    rules.demand(setup.preferred_rollback != Rollback::reverse || process.has_reverse,
                 "preferred_rollback reverse: needs LPs with on_reverse");
    rules.demand(setup.parts.empty() || setup.parts.size() == setup.lps,
                 "parts: must have one for each of the {} LPs, or be empty; it has {}", setup.lps,
                 setup.parts.size());
    for (const Link& link : setup.links)
        rules.demand(index(link.a) < setup.lps && index(link.b) < setup.lps,
                     "link of LPs {} and {}: must be below lps = {}", index(link.a), index(link.b),
                     setup.lps);
    check_outputs(rules, setup.outputs);
    check_choices(model, setup, config);
}

}  // namespace nw
