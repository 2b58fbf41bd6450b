// SPDX-License-Identifier: Apache-2.0
#include "app/options/config_file.hpp"

#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "app/options/input_file.hpp"
#include "app/options/option_values.hpp"

namespace nw {

namespace {

constexpr std::size_t file_bytes_max = std::size_t{4} << 20;

// Returns the value as it would be typed on the command line; nothing for arrays, tables and dates.
std::optional<std::string> text_of(const toml::node& node) {
    if (const auto* value = node.as_string()) return value->get();
    if (const auto* value = node.as_integer()) return fmt::format("{}", value->get());
    if (const auto* value = node.as_floating_point()) return fmt::format("{}", value->get());
    if (const auto* value = node.as_boolean()) return value->get() ? "on" : "off";
    return std::nullopt;
}

void apply_key(const std::string& path, const std::string& key, const toml::node& node,
               const OptionTable& table) {
    const OptionSpec* spec = table.find(key);
    if (spec == nullptr || !spec->is_setting()) {
        const std::string near = nearest_word(key, table.names(true));
        throw SetupError(fmt::format("{}: {}: unknown key{}", path, shortened(key),
                                     near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    const std::optional<std::string> text = text_of(node);
    if (!text)
        throw SetupError(
            fmt::format("{}: {}: must be a number, a string, true or false", path, key));
    try {
        spec->set(*text);
    } catch (const InvalidValue& illegal) {
        throw SetupError(
            fmt::format("{}: {} = {}: {}", path, key, shortened(*text), illegal.what()));
    }
}

}  // namespace

void apply_config_file(const std::string& path, const OptionTable& table,
                       std::set<std::string, std::less<>>& given) {
    std::string text;
    try {
        text = read_input_file(path, file_bytes_max);
    } catch (const std::system_error& error) {
        throw SetupError(fmt::format("--config {}: must be a TOML file that can be read: {}",
                                     shortened(path), error.code().message()));
    }
    try {
        const toml::table keys = toml::parse(text, path);
        for (const auto& [toml_key, node] : keys) {
            const std::string key(std::string_view{toml_key});
            apply_key(path, key, node, table);
            given.insert(key);
        }
    } catch (const toml::parse_error& error) {
        throw SetupError(fmt::format("{}: line {}: {}; must be TOML", path,
                                     error.source().begin.line, shortened(error.description())));
    }
}

}  // namespace nw
