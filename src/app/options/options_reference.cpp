// SPDX-License-Identifier: Apache-2.0
#include "app/options/options_reference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/options/option_table.hpp"

namespace nw {

namespace {

// Escapes vertical bars, which would end the cell of the table.
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
        "Every model's program has these options and its own options: `--help` shows both. All of "
        "them\n"
        "may also be set in a TOML file (`--config FILE.toml`) under the same names, without the\n"
        "dashes, as top-level keys; there, `true` and `false` are the same as on and off. The "
        "command\n"
        "line has precedence over the file. If an option is given twice, the last value counts. A "
        "flag\n"
        "can be switched off, as in `--quiet off`. An option that has no effect in a run, such as\n"
        "`--window` with `--engine sequential`, is named in a notice.\n\n"
        "This page is printed by `numawarp-reference options`.\n";
    std::string group;
    for (const OptionSpec& spec : table.specs()) {
        if (spec.group != group) {
            group = spec.group;
            text += fmt::format("\n## {}\n\n| option | meaning | default |\n| --- | --- | --- |\n",
                                group);
        }
        const bool is_switch = spec.is_flag() && spec.is_setting();
        const std::string standard = !spec.standard.empty() ? spec.standard
                                     : is_switch            ? "off"
                                                            : "none";
        text += fmt::format("| `--{}{}{}` | {} | {} |\n", spec.name, spec.is_flag() ? "" : " ",
                            in_cell(spec.values), spec.meaning(), standard);
    }
    return text;
}

}  // namespace nw
