// SPDX-License-Identifier: Apache-2.0
// Fills the option table, with one call per option. Used for the engine's options
// (option_table.cpp) and for the model's (model_options.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/options/option_table.hpp"
#include "app/options/option_values.hpp"

namespace nw {

template <class Enum>
struct Word {
    std::string_view text;
    Enum value;
};

template <class Enum, std::size_t N>
std::string_view word_of(const Word<Enum> (&words)[N], Enum value) noexcept {
    for (const auto& word : words)
        if (word.value == value) return word.text;
    return "?";
}

inline std::string bars(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, "|"));
}

// The JSON value of a number, or of a number in a std::optional.
template <class Target>
nlohmann::json json_of(const Target& target) {
    if constexpr (std::is_arithmetic_v<Target>)
        return target;
    else
        return target ? nlohmann::json(*target) : nlohmann::json(nullptr);
}

// A JSON value for the statistics: the word (such as "auto") if `is_word`, else the number.
inline nlohmann::json number_or(bool is_word, const char* word, const nlohmann::json& number) {
    return is_word ? nlohmann::json(word) : number;
}

// The role of an option on which the simulated system depends.
inline constexpr OptionRole of_system{Engines::all, Equal::value, Equal::value, InCheckModel::kept};

inline const OptionSpec* find_in(const std::vector<OptionSpec>& specs,
                                 std::string_view name) noexcept {
    const auto found = std::find_if(specs.begin(), specs.end(),
                                    [name](const OptionSpec& spec) { return spec.name == name; });
    return found == specs.end() ? nullptr : &*found;
}

// group() sets the heading for all options that are added after it.
class OptionBuilder {
  public:
    explicit OptionBuilder(std::vector<OptionSpec>& specs) : specs_(specs) {}

    void group(std::string heading) { group_ = std::move(heading); }
    const OptionSpec* find(std::string_view name) const noexcept { return find_in(specs_, name); }

    // `targets`: all variables that the option sets. Their present values are the default.
    template <class... Targets>
    OptionSpec& add(std::string name, std::string values, std::string standard, OptionRules rules,
                    std::string help, Targets&... targets) {
        specs_.push_back({std::move(name), std::move(values), group_, std::move(help),
                          std::move(standard), std::move(rules)});
        specs_.back().variables = {&targets...};
        specs_.back().neutral = {"off", "auto"};
        specs_.back().reset = [&targets..., defaults = std::tuple(targets...)] {
            std::tie(targets...) = defaults;
        };
        return specs_.back();
    }

    // Target: Enum, or std::optional<Enum> if none of the words is the default.
    template <class Target, class Enum, std::size_t N>
    OptionSpec& add_words(std::string name, Target& target, const Word<Enum> (&words)[N],
                          OptionRules rules, std::string help) {
        return add_words(std::move(name), target, std::vector(words, words + N), std::move(rules),
                         std::move(help));
    }
    template <class Target, class Enum>
    OptionSpec& add_words(std::string name, Target& target, std::vector<Word<Enum>> words,
                          OptionRules rules, std::string help) {
        std::vector<std::string> texts;
        for (const auto& word : words) texts.emplace_back(word.text);
        OptionSpec& spec =
            add(std::move(name), bars(texts), "", std::move(rules), std::move(help), target);
        spec.set = [&target, words, texts](std::string_view text) {
            target = words[parse_choice(text, texts)].value;
        };
        spec.value = [&target, words] {
            for (const auto& word : words)
                if (target == word.value) return nlohmann::json(word.text);
            return nlohmann::json(nullptr);
        };
        spec.standard = spec.text();
        return spec;
    }

    // A choice from a table of records, each of which has a `word`.
    template <class Record>
    OptionSpec& add_record(std::string name, const Record*& target,
                           std::vector<const Record*> records, OptionRules rules,
                           std::string help) {
        std::vector<std::string> words;
        for (const Record* record : records) words.emplace_back(record->word);
        OptionSpec& spec =
            add(std::move(name), bars(words), "", std::move(rules), std::move(help), target);
        spec.set = [&target, records, words](std::string_view text) {
            target = records[parse_choice(text, words)];
        };
        spec.value = [&target] { return nlohmann::json(target->word); };
        spec.standard = spec.text();
        spec.neutral = {spec.standard};
        return spec;
    }

    OptionSpec& add_flag(std::string name, bool& target, OptionRules rules, std::string help) {
        OptionSpec& spec =
            add(std::move(name), "", target ? "on" : "", std::move(rules), std::move(help), target);
        spec.set = [&target](std::string_view text) {
            target = parse_choice(text, {"on", "off"}) == 0;
        };
        spec.value = [&target] { return nlohmann::json(target); };
        return spec;
    }

    // Target: a number, or a number in a std::optional if the default is no number.
    template <class Target>
    OptionSpec& add_number(std::string name, std::string unit, Target& target, Range allowed,
                           OptionRules rules, std::string help) {
        OptionSpec& spec =
            add(std::move(name), std::move(unit), "", std::move(rules), std::move(help), target);
        spec.allowed = allowed.text();
        spec.neutral = {"0"};
        spec.set = [&target, allowed](std::string_view text) {
            using Number = typename decltype(std::optional{target})::value_type;
            target = parse_number<Number>(text, allowed);
        };
        spec.value = [&target] { return json_of(target); };
        spec.standard = spec.text();
        return spec;
    }

    // The option accepts a number, or `word`. The word sets the value 0; if Target is a
    // std::optional, it sets no value.
    template <class Target>
    OptionSpec& add_number_or(std::string name, const std::string& unit, const char* word,
                              Target& target, Range allowed, OptionRules rules, std::string help) {
        OptionSpec& spec = add_number(std::move(name), fmt::format("{}|{}", unit, word), target,
                                      allowed, std::move(rules), std::move(help));
        spec.neutral = {word};
        spec.set = [&target, word, allowed](std::string_view text) {
            using Number = typename decltype(std::optional{target})::value_type;
            target = text == word ? Target{} : Target{parse_number<Number>(text, allowed, word)};
        };
        spec.value = [&target, word] {
            return number_or(target == Target{}, word, json_of(target));
        };
        spec.standard = spec.text();
        return spec;
    }

    OptionSpec& add_text(std::string name, std::string values, std::string& target,
                         OptionRules rules, std::string help) {
        OptionSpec& spec = add(std::move(name), std::move(values), target, std::move(rules),
                               std::move(help), target);
        spec.neutral = {};
        spec.set = [&target](std::string_view text) { target = text; };
        spec.value = [&target] {
            return target.empty() ? nlohmann::json(nullptr) : nlohmann::json(target);
        };
        return spec;
    }

  private:
    std::vector<OptionSpec>& specs_;
    std::string group_;
};

}  // namespace nw
