#include "main/config_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "main/option_values.hpp"

namespace nw {

namespace {

// The value as it would be typed on the command line; nothing for arrays, tables and dates.
std::optional<std::string> text_of(const toml::node& node) {
    if (const auto* value = node.as_string()) return value->get();
    if (const auto* value = node.as_integer()) return fmt::format("{}", value->get());
    if (const auto* value = node.as_floating_point()) return fmt::format("{}", value->get());
    if (const auto* value = node.as_boolean()) return value->get() ? "on" : "off";
    return std::nullopt;
}

std::vector<std::string> legal_keys(const OptionTable& table) {
    std::vector<std::string> keys;
    for (const OptionSpec& spec : table.specs())
        if (spec.value) keys.push_back(spec.name);
    return keys;
}

void apply_key(const std::string& path, const std::string& key, const toml::node& node,
               const OptionTable& table) {
    const OptionSpec* spec = table.find(key);
    if (spec == nullptr || !spec->value) {
        const std::string near = nearest_word(key, legal_keys(table));
        throw SetupError(fmt::format("{}: {}: unknown key{}", path, key,
                                     near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    const std::optional<std::string> text = text_of(node);
    if (!text)
        throw SetupError(fmt::format("{}: {}: must be a number, a text, true or false", path, key));
    try {
        spec->set(*text);
    } catch (const IllegalValue& illegal) {
        throw SetupError(fmt::format("{}: {} = {}: {}", path, key, *text, illegal.what()));
    }
}

}  // namespace

void apply_config_file(const std::string& path, const OptionTable& table) {
    // A folder can be opened like a file, and fails only when it is read.
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path))
        throw SetupError(fmt::format("--config {}: must be a TOML file that can be read", path));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    try {
        const toml::table keys = toml::parse(text, path);
        for (const auto& [key, node] : keys)
            apply_key(path, std::string(std::string_view(key)), node, table);
    } catch (const toml::parse_error& error) {
        throw SetupError(
            fmt::format("{}: line {}: {}", path, error.source().begin.line, error.description()));
    }
}

}  // namespace nw
