#include "options/model_options.hpp"

#include <algorithm>
#include <limits>

#include "options/option_builder.hpp"

namespace nw {

namespace {

using nlohmann::json;

// What can be typed behind two dashes, and stand as a bare key in TOML.
bool can_be_typed(std::string_view name) noexcept {
    const auto is_letter_or_digit = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !name.empty() && is_letter_or_digit(name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

// The model's side of the table.
class ModelOptions final : public Options {
  public:
    ModelOptions(OptionBuilder& table, const Model& model) : table_(table), model_(model) {}

    void add(const std::string& name, double& value, const std::string& help) override {
        check(name);
        OptionSpec& spec = table_.add(name, "X", fmt::format("{}", value), help);
        spec.set = [&value](std::string_view text) { value = parse_number(text); };
        spec.value = [&value] { return json(value); };
    }
    void add(const std::string& name, std::uint32_t& value, const std::string& help) override {
        add_whole(name, value, help);
    }
    void add(const std::string& name, std::uint64_t& value, const std::string& help) override {
        add_whole(name, value, help);
    }
    void add(const std::string& name, std::string& value, const std::string& help) override {
        check(name);
        table_.add_text(name, "TEXT", value, help);
    }
    void add_flag(const std::string& name, bool& value, const std::string& help) override {
        check(name);
        table_.add_flag(name, value, help);
    }
    void add_choice(const std::string& name, std::string& value,
                    const std::vector<std::string>& words, const std::string& help) override {
        check(name);
        demand(std::find(words.begin(), words.end(), value) != words.end(), name,
               fmt::format("has the default \"{}\"; legal: one of its words, {}", value,
                           words.empty() ? "and it has none" : enumerate(words, " or ")));
        demand(std::find(words.begin(), words.end(), "") == words.end(), name,
               "has an empty word; legal: words that can be typed");
        OptionSpec& spec = table_.add(name, bars(words), value, help);
        spec.set = [&value, words](std::string_view text) {
            value = words[parse_choice(text, words)];
        };
        spec.value = [&value] { return json(value); };
    }

  private:
    // What is wrong with an option only the model's author can mend.
    void demand(bool kept, const std::string& name, const std::string& rule) const {
        if (!kept)
            throw SetupError(
                fmt::format("model {}: its option \"{}\" {}", model_.name(), name, rule));
    }
    void check(const std::string& name) const {
        demand(can_be_typed(name), name,
               "has a name that cannot be typed; legal: letters, digits, - and _, beginning with a "
               "letter or a digit");
        demand(table_.find(name) == nullptr, name, "has a name that is taken");
    }

    template <class Whole>
    void add_whole(const std::string& name, Whole& value, const std::string& help) {
        check(name);
        OptionSpec& spec = table_.add(name, "N", fmt::format("{}", value), help);
        spec.set = [&value](std::string_view text) {
            value = static_cast<Whole>(parse_whole(text, 0, std::numeric_limits<Whole>::max()));
        };
        spec.value = [&value] { return json(value); };
    }

    OptionBuilder& table_;
    const Model& model_;
};

}  // namespace

void add_model_options(OptionBuilder& table, Model& model) {
    table.group("Model: " + model.name());
    ModelOptions options(table, model);
    model.options(options);
}

}  // namespace nw
