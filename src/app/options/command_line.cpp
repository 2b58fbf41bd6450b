// SPDX-License-Identifier: Apache-2.0
#include "app/options/command_line.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/options/config_file.hpp"
#include "app/options/option_values.hpp"
#include "util/check.hpp"
#include "util/version.hpp"

namespace nw {

namespace {

// Lays out --help with CLI11. CLI11 does not parse the command line, because it would split values
// that look like lists.
std::string laid_out(const OptionTable& table, const std::string& name,
                     const std::string& description) {
    CLI::App page(description, name);
    page.set_help_flag();
    page.get_formatter()->column_width(48);
    for (const OptionSpec& spec : table.specs()) {
        const std::string dashed = "--" + spec.name;
        const std::string help = spec.standard.empty()
                                     ? spec.meaning()
                                     : fmt::format("{} [{}]", spec.meaning(), spec.standard);
        CLI::Option* option = nullptr;
        if (spec.is_flag()) {
            option = page.add_flag(dashed, help);
        } else {
            const CLI::callback_t accept = [](const CLI::results_t&) { return true; };
            option = page.add_option(dashed, accept, help);
            option->type_name(spec.values);
        }
        option->group(spec.group);
    }
    return page.help();
}

// An option and its value as the user has typed them.
struct Given {
    const OptionSpec* spec;
    std::string text;
};

[[noreturn]] void refuse(const std::string& argument, const OptionTable& table) {
    if (!argument.starts_with("-") || argument == "-" || argument == "--")
        throw SetupError(fmt::format("{}: unexpected argument; options begin with --",
                                     argument.empty() ? "\"\"" : shortened(argument)));
    const std::string name = argument.substr(0, argument.find('='));
    const std::size_t dashes = std::min(name.find_first_not_of('-'), name.size());
    const std::string near = nearest_word(name.substr(dashes), table.names(false));
    throw SetupError(fmt::format(
        "{}: unknown option; {}", shortened(name),
        near.empty() ? "--help lists the options" : fmt::format("did you mean --{}?", near)));
}

void set(const OptionSpec& spec, const std::string& text, Settings& settings) {
    settings.given.insert(spec.name);
    try {
        spec.set(text);
    } catch (const InvalidValue& illegal) {
        throw SetupError(fmt::format("--{} {}: {}", spec.name, shortened(text), illegal.what()));
    }
}

// Splits the arguments into options and values. The value of an option is the part after "=".
// Without "=", the value is the next argument, even if this argument begins with a dash ("--until"
// "-5"). A flag needs no value; "--flag off" and "--flag=off" switch it off.
std::vector<Given> split(const std::vector<std::string>& arguments, const OptionTable& table) {
    std::vector<Given> given;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        const std::size_t equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const OptionSpec* spec = name.starts_with("--") ? table.find(name.substr(2)) : nullptr;
        if (spec == nullptr) refuse(argument, table);
        const bool has_next = i + 1 < arguments.size();
        const auto next_is = [&](const char* word) { return has_next && arguments[i + 1] == word; };
        std::string text;
        if (equals != std::string::npos)
            text = argument.substr(equals + 1);
        else if (spec->is_flag())
            text = next_is("on") || next_is("off") ? arguments[++i] : "on";
        else if (has_next)
            text = arguments[++i];
        if (text.empty())
            throw SetupError(fmt::format("{}: value is missing; allowed: {}", name,
                                         spec->is_flag() ? "on|off" : spec->values));
        given.push_back({spec, std::move(text)});
    }
    return given;
}

}  // namespace

void read_command_line(const std::vector<std::string>& arguments, const OptionTable& table,
                       Settings& settings) {
    for (const OptionSpec& spec : table.specs())
        if (spec.use == OptionUse::text &&
            std::ranges::find(arguments, "--" + spec.name) != arguments.end())
            spec.set("on");
    if (settings.help || settings.version) return;

    const std::vector<Given> given = split(arguments, table);
    for (const Given& option : given)
        if (option.spec->use == OptionUse::file) set(*option.spec, option.text, settings);
    if (!settings.config_file.empty())
        apply_config_file(settings.config_file, table, settings.given);
    for (const OptionSpec& spec : table.specs()) {
        const auto last = std::find_if(given.rbegin(), given.rend(),
                                       [&](const Given& option) { return option.spec == &spec; });
        if (last != given.rend()) set(spec, last->text, settings);
    }
}

std::string help_text(const Model& model, const OptionTable& table) {
    return laid_out(table, model.name(), model.name() + ": " + model.description());
}

std::vector<std::string> own_command_line() {
    std::ifstream file("/proc/self/cmdline");
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    if (words.empty())
        throw MachineError("the command line cannot be read from /proc/self/cmdline");
    return words;
}

std::string version_text(const Model& model) {
    return fmt::format("{} (numawarp {}, commit {})\n", model.name(), version, built_commit);
}

}  // namespace nw
