// SPDX-License-Identifier: Apache-2.0
// The table of all options, the engine's and the model's. For each option it has name, values,
// default, help, a function that sets the value and one that returns it. The command line, the
// configuration file, --help, the JSON of --stats and docs/reference/options.md are all based on
// this table.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
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

struct OptionSpec {
    std::string name;    // without the dashes
    std::string values;  // "N|auto"; empty for a flag
    std::string group;   // heading in --help
    std::string help;
    std::string allowed;   // "from 0 to 1"; empty if `values` is complete
    std::string standard;  // the default, as text; may be empty
    // Throws InvalidValue.
    std::function<void(std::string_view)> set;
    // Returns the value in force. Empty for options that request a text or name a configuration
    // file.
    std::function<nlohmann::json()> value;

    bool is_flag() const noexcept { return values.empty(); }
    std::string meaning() const { return allowed.empty() ? help : help + " (" + allowed + ')'; }
};

class OptionTable {
  public:
    // The specs refer to `settings` and to the model's members: both must outlive the table.
    OptionTable(Settings& settings, Model& model);
    explicit OptionTable(Settings& settings);  // only the engine's options
    OptionTable(const OptionTable&) = delete;
    OptionTable& operator=(const OptionTable&) = delete;

    const std::vector<OptionSpec>& specs() const noexcept { return specs_; }
    // The model's options.
    std::span<const OptionSpec> model_specs() const noexcept {
        return std::span(specs_).subspan(engine_options_);
    }
    const OptionSpec* find(std::string_view name) const noexcept;
    std::vector<std::string> names() const;

  private:
    std::vector<OptionSpec> specs_;
    std::size_t engine_options_ = 0;
};

// Return the words for these values on the command line, in messages and in the statistics.
std::string_view word_for(EngineKind kind) noexcept;
std::string_view word_for(Rollback rollback) noexcept;
std::string_view word_for(PlaceMode place) noexcept;

}  // namespace nw
