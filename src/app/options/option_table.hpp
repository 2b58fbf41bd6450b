// SPDX-License-Identifier: Apache-2.0
// The table of all options, the engine's and the model's. Everything about an option is in its
// record: name, values, default, help, and the decisions about it (OptionRules). All code that
// works on options iterates over the table. This is the code for the command line, the
// configuration file, --help, the JSON of --stats, docs/reference/options.md, notices, checks, the
// agreement of ranks, the identity of a saved run, and --check-model.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plan/config.hpp"
#include "results/formats/output_format.hpp"

namespace nw {

enum class ProgressMode : std::uint8_t { automatic, on, off };

// Everything that the user can choose, except the model's own options.
struct Settings {
    Config config;
    std::string stats_file;         // empty: none
    std::string trace_file;         // empty: none
    std::string restart_directory;  // empty: no restart
    std::string config_file;        // empty: none
    ProgressMode progress = ProgressMode::automatic;
    const FormatChoice* output_format = &format_choices().front();
    bool quiet = false;
    bool verbose = false;
    bool help = false;
    bool version = false;
    std::uint64_t check_model_events = 0;      // 0: an ordinary run
    bool check_model_is_timed = false;         // stop after about a second
    std::set<std::string, std::less<>> given;  // names of the options that the user wrote
};

// Facts about a run. They determine which options have no effect in the run. They also determine
// which values the engine has chosen for options.
struct RunShape {
    Rollback rollback{};
    std::uint64_t workers = 1;  // on all ranks
    std::uint64_t ranks = 1;
    bool commits_late = false;  // a model with can_end() on several workers
    // --engine auto has chosen the conservative engine, without a trial of Time Warp.
    bool is_conservative = false;
    VirtualTime until = time_infinity;
    std::uint32_t lps_per_group = 0;

    // Whether Time Warp executes the run or a part of it, or may still execute a part.
    bool runs_timewarp(const Config& config) const noexcept {
        return may_be_timewarp(config) && !is_conservative;
    }
};

// setting: a value for the run. text: the program prints a text and executes no run. file: names a
// file of settings. check: the program starts other runs. A file of settings may contain only
// options with the use `setting`.
enum class OptionUse : std::uint8_t { setting, text, file, check };
// The engines for which the option has an effect. If the option has an effect only in Time Warp,
// the other engines either ignore it or refuse it. With --engine auto, a user's value of an option
// that is not for all engines excludes the conservative engine.
enum class Engines : std::uint8_t { undecided, all, others_ignore, others_refuse };
// The part of an option that must be equal in two processes. value: its value. presence: only
// whether it has a value.
enum class Equal : std::uint8_t { undecided, value, presence, none };
// Whether the runs of --check-model have the user's value (kept), or the default or another value
// (replaced).
enum class InCheckModel : std::uint8_t { undecided, kept, replaced };

// Decisions that follow from the purpose of an option.
struct OptionRole {
    Engines engines = Engines::undecided;
    Equal on_ranks = Equal::undecided;    // of one run
    Equal at_restart = Equal::undecided;  // of a saved run
    InCheckModel in_check_model = InCheckModel::undecided;
};

// If the value of an option is not neutral (OptionSpec::neutral), the user must also give the
// option that is described here.
struct OptionNeed {
    std::string needed;  // "--checkpoint DIR"
    std::function<bool(const Settings&)> is_met;
};

// A condition under which an option has no effect.
struct IdleCondition {
    std::string name;  // "one worker"
    std::function<bool(const Settings&, const RunShape&)> holds;
};

// All decisions about an option besides its values. No member may be left out.
struct OptionRules {
    OptionRole role;
    std::vector<OptionNeed> needs;
    std::vector<IdleCondition> idle;  // the first that holds is reported
};

struct OptionSpec {
    std::string name;    // without the dashes
    std::string values;  // "N|auto"; empty for a flag
    std::string group;   // heading in --help
    std::string help;
    std::string standard;  // the default, as text; may be empty
    OptionRules rules;
    OptionUse use = OptionUse::setting;
    std::string allowed = {};                        // "from 0 to 1"; empty if `values` is complete
    std::vector<std::string> neutral = {};           // values that request no feature
    std::function<void(std::string_view)> set = {};  // throws InvalidValue
    std::function<void()> reset = {};                // to the default
    std::function<nlohmann::json()> value = {};      // in force; null: none
    // Set if the engine may choose the value. Returns the choice; null: the option has no effect.
    std::function<nlohmann::json(const RunShape&)> chosen = {};
    std::vector<const void*> variables = {};  // which the option sets

    bool is_setting() const noexcept { return use == OptionUse::setting; }
    bool is_flag() const noexcept { return values.empty(); }
    bool is_on() const;        // has a value other than false
    std::string text() const;  // the value in force, as on the command line; empty: none
    std::string dashed() const { return "--" + name; }
    std::string with_value() const { return dashed() + ' ' + text(); }
    std::string meaning() const { return allowed.empty() ? help : help + " (" + allowed + ')'; }
};

class OptionTable {
  public:
    // The specs refer to `settings` and to the model's members: both must outlive the table.
    OptionTable(Settings& settings, Model& model);
    explicit OptionTable(Settings& settings);  // only the engine's options
    OptionTable(const OptionTable&) = delete;
    OptionTable& operator=(const OptionTable&) = delete;

    const Settings& settings() const noexcept { return settings_; }
    const std::vector<OptionSpec>& specs() const noexcept { return specs_; }
    // The model's options.
    std::span<const OptionSpec> model_specs() const noexcept {
        return std::span(specs_).subspan(engine_options_);
    }
    const OptionSpec* find(std::string_view name) const noexcept;
    // Requires: an option sets the variable, which is a member of settings().
    const OptionSpec& option_of(const void* variable) const;
    std::vector<std::string> names(bool settings_only) const;
    // Whether the user has given the option, with a value that is not neutral.
    bool is_wanted(const OptionSpec& spec) const;
    // Returns the reason why the option has no effect in the run; empty if it may have an effect.
    std::string why_idle(const OptionSpec& spec, const RunShape& shape) const;
    // Returns one line for each option that is wanted and has no effect.
    std::vector<std::string> idle_notices(const RunShape& shape) const;
    // For --engine auto: returns an option that has an effect only in Time Warp, with its value, as
    // in "--window off". The user has given this option, and its value is not the default. Empty if
    // there is no such option.
    std::string option_for_timewarp() const;

  private:
    const Settings& settings_;
    std::vector<OptionSpec> specs_;
    std::size_t engine_options_ = 0;
};

// Returns the word for this value on the command line, in messages and in the statistics.
std::string_view word_for(EngineKind kind) noexcept;

}  // namespace nw
