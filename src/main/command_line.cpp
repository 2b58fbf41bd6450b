#include "main/command_line.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "main/config_file.hpp"
#include "main/option_values.hpp"
#include "main/version.hpp"

namespace nw {

namespace {

std::unique_ptr<CLI::App> make_parser(const OptionTable& table, const std::string& name,
                                      const std::string& description) {
    auto parser = std::make_unique<CLI::App>(description, name);
    parser->set_help_flag();
    parser->allow_extras();
    parser->get_formatter()->column_width(48);
    for (const OptionSpec& spec : table.specs()) {
        const std::string dashed = "--" + spec.name;
        const std::string help =
            spec.standard.empty() ? spec.help : fmt::format("{} [{}]", spec.help, spec.standard);
        CLI::Option* option = nullptr;
        if (spec.is_flag()) {
            option = parser->add_flag(dashed, help);
        } else {
            const CLI::callback_t accept = [](const CLI::results_t&) { return true; };
            option = parser->add_option(dashed, accept, help);
            option->type_name(spec.values);
        }
        option->group(spec.group)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
    return parser;
}

// Joins "--until" "-5" to "--until=-5": an option's value is what follows it, even where that looks
// like an option. A value that is missing is found here, too.
std::vector<std::string> join_values(const std::vector<std::string>& arguments,
                                     const OptionTable& table) {
    std::vector<std::string> joined;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::string argument = arguments[i];
        const std::size_t equals = argument.find('=');
        const std::string name = argument.substr(0, equals);
        const OptionSpec* spec = name.starts_with("--") ? table.find(name.substr(2)) : nullptr;
        if (spec != nullptr && !spec->is_flag()) {
            if (equals == std::string::npos && i + 1 < arguments.size())
                argument += "=" + arguments[++i];
            if (argument.size() <= name.size() + 1)
                throw SetupError(fmt::format("{}: its value is missing: {}", name, spec->values));
        }
        joined.push_back(std::move(argument));
    }
    return joined;
}

[[noreturn]] void refuse(const std::string& argument, const OptionTable& table) {
    if (!argument.starts_with("-") || argument == "-" || argument == "--")
        throw SetupError(fmt::format("{}: unexpected; options begin with --", argument));
    const std::string name = argument.substr(0, argument.find('='));
    const std::size_t dashes = std::min(name.find_first_not_of('-'), name.size());
    const std::string near = nearest_word(name.substr(dashes), table.names());
    throw SetupError(fmt::format(
        "{}: unknown option; {}", name,
        near.empty() ? "--help lists the known ones" : fmt::format("did you mean --{}?", near)));
}

void set(const OptionSpec& spec, const std::string& text) {
    try {
        spec.set(spec.is_flag() && text == "true" ? "on" : text);
    } catch (const IllegalValue& illegal) {
        throw SetupError(fmt::format("--{} {}: {}", spec.name, text, illegal.what()));
    }
}

}  // namespace

void read_command_line(const std::vector<std::string>& arguments, const OptionTable& table,
                       Settings& settings) {
    for (const std::string& argument : arguments) {
        if (argument == "--help") settings.help = true;
        if (argument == "--version") settings.version = true;
    }
    if (settings.help || settings.version) return;

    const auto parser = make_parser(table, "", "");
    std::vector<std::string> reversed = join_values(arguments, table);
    std::reverse(reversed.begin(), reversed.end());  // CLI11 takes them from the back.
    try {
        parser->parse(reversed);
    } catch (const CLI::ParseError& error) {
        throw SetupError(error.what());
    }
    if (const auto unknown = parser->remaining(); !unknown.empty()) refuse(unknown.front(), table);

    const auto given = [&parser](const OptionSpec& spec) {
        return parser->get_option("--" + spec.name)->results();
    };
    const OptionSpec* config = table.find("config");
    if (const auto texts = given(*config); !texts.empty()) {
        set(*config, texts.back());
        apply_config_file(settings.config_file, table);
    }
    for (const OptionSpec& spec : table.specs())
        if (const auto texts = given(spec); !texts.empty()) set(spec, texts.back());
}

std::string help_text(const Model& model, const OptionTable& table) {
    return make_parser(table, model.name(), model.name() + ": " + model.description())->help();
}

std::string version_text(const Model& model) {
    return fmt::format("{} (numawarp {}, commit {})\n", model.name(), version, commit);
}

}  // namespace nw
