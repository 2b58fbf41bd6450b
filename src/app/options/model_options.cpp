// SPDX-License-Identifier: Apache-2.0
#include "app/options/model_options.hpp"

#include <algorithm>

#include "app/options/option_builder.hpp"

namespace nw {

namespace {

using nlohmann::json;

// True if the name can be typed after two dashes and is a bare key in TOML.
bool can_be_typed(std::string_view name) noexcept {
    const auto is_letter_or_digit = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !name.empty() && is_letter_or_digit(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

// The model's interface to the table.
class ModelOptions final : public Options {
  public:
    ModelOptions(OptionBuilder& table, const Model& model) : table_(table), model_(model) {}

    void add(const std::string& name, double& value, const std::string& help,
             Range allowed) override {
        add_number(name, "X", value, help, allowed);
    }
    void add(const std::string& name, std::uint32_t& value, const std::string& help,
             Range allowed) override {
        add_number(name, "N", value, help, allowed);
    }
    void add(const std::string& name, std::uint64_t& value, const std::string& help,
             Range allowed) override {
        add_number(name, "N", value, help, allowed);
    }
    void add(const std::string& name, std::string& value, const std::string& help) override {
        check(name);
        table_.add_text(name, "TEXT", value, rules_, help);
    }
    void add_flag(const std::string& name, bool& value, const std::string& help) override {
        check(name);
        table_.add_flag(name, value, rules_, help);
    }
    void add_choice(const std::string& name, std::string& value,
                    const std::vector<std::string>& words, const std::string& help) override {
        add_one_of(name, value, words, help);
    }
    void add_choice(const std::string& name, std::uint32_t& value,
                    const std::vector<std::uint32_t>& numbers, const std::string& help) override {
        add_one_of(name, value, numbers, help);
    }

  private:
    // The message names the model, because only the model's author can correct its options.
    void demand(bool kept, const std::string& name, const std::string& rule) const {
        if (!kept)
            throw SetupError(
                fmt::format("model {}: its option \"{}\" {}", model_.name(), name, rule));
    }
    void check(const std::string& name) const {
        demand(
            can_be_typed(name), name,
            "has a name that cannot be typed; allowed: letters, digits, - and _, beginning with a "
            "letter or a digit");
        demand(table_.find(name) == nullptr, name, "has a name that is already used");
    }

    template <class Number>
    void add_number(const std::string& name, const char* unit, Number& value,
                    const std::string& help, Range allowed) {
        check(name);
        demand(allowed.contains(static_cast<double>(value)), name,
               fmt::format("has the default {}; allowed: {}", value,
                           allowed.text().empty() ? "a finite number" : allowed.text()));
        table_.add_number(name, unit, value, allowed, rules_, help);
    }

    template <class Value>
    void add_one_of(const std::string& name, Value& value, const std::vector<Value>& values,
                    const std::string& help) {
        check(name);
        std::vector<std::string> words;
        for (const Value& one : values) words.push_back(fmt::format("{}", one));
        demand(std::find(values.begin(), values.end(), value) != values.end(), name,
               fmt::format(
                   "has the default \"{}\"; allowed: {}", value,
                   words.empty() ? "an option with at least one value" : enumerate(words, " or ")));
        demand(std::find(words.begin(), words.end(), "") == words.end(), name,
               "has an empty value; allowed: words that can be typed");
        OptionSpec& spec =
            table_.add(name, bars(words), fmt::format("{}", value), rules_, help, value);
        spec.set = [&value, values, words](std::string_view text) {
            value = values[parse_choice(text, words)];
        };
        spec.value = [&value] { return json(value); };
    }

    OptionBuilder& table_;
    const Model& model_;
    const OptionRules rules_{of_system, {}, {}};
};

}  // namespace

void add_model_options(OptionBuilder& table, Model& model) {
    table.group("Model: " + model.name());
    ModelOptions options(table, model);
    model.options(options);
}

}  // namespace nw
