#include "options/options_reference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "options/option_table.hpp"

namespace nw {

namespace {

// A bar would end the table's cell.
std::string in_cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.insert(at, "\\");
    return text;
}

}  // namespace

std::string options_reference() {
    Settings settings;
    const OptionTable table(settings);
    std::string text =
        "# Options of the engine\n\n"
        "Every model's program has them, and options of its own: `--help` shows both. They may "
        "also\n"
        "stand in a TOML file (`--config FILE.toml`) under the same names, without the dashes, as\n"
        "top-level keys; on and off may be said there as `true` and `false`. The command line "
        "wins\n"
        "over the file. An option given twice has its last value, and a flag may be taken back, as "
        "in\n"
        "`--quiet off`. An option that does nothing in a run, as `--window` does with `--engine\n"
        "sequential`, is named in a notice.\n\n"
        "This page is printed by `numawarp-reference options`.\n";
    std::string group;
    for (const OptionSpec& spec : table.specs()) {
        if (spec.group != group) {
            group = spec.group;
            text += fmt::format("\n## {}\n\n| option | meaning | default |\n| --- | --- | --- |\n",
                                group);
        }
        const bool is_switch = spec.is_flag() && spec.value;
        const std::string standard = !spec.standard.empty() ? spec.standard
                                     : is_switch            ? "off"
                                                            : "none";
        text += fmt::format("| `--{}{}{}` | {} | {} |\n", spec.name, spec.is_flag() ? "" : " ",
                            in_cell(spec.values), spec.meaning(), standard);
    }
    return text;
}

}  // namespace nw
