// SPDX-License-Identifier: Apache-2.0
// Fills the option table, with one call per option. Used for the engine's options
// (option_table.cpp) and for the model's (model_options.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
    const char* text;
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

// A JSON value for the statistics: the word (such as "auto") if `is_word`, else the number.
inline nlohmann::json number_or(bool is_word, const char* word, const nlohmann::json& number) {
    return is_word ? nlohmann::json(word) : number;
}

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

    OptionSpec& add(std::string name, std::string values, std::string standard, std::string help) {
        specs_.push_back({std::move(name),
                          std::move(values),
                          group_,
                          std::move(help),
                          "",
                          std::move(standard),
                          {},
                          {}});
        return specs_.back();
    }

    // Target: Enum, or std::optional<Enum> if none of the words is the default.
    template <class Target, class Enum, std::size_t N>
    OptionSpec& add_words(std::string name, Target& target, const Word<Enum> (&words)[N],
                          std::string help) {
        std::vector<std::string> texts;
        for (const auto& word : words) texts.emplace_back(word.text);
        OptionSpec& spec = add(std::move(name), bars(texts), "", std::move(help));
        spec.set = [&target, &words, texts](std::string_view text) {
            target = words[parse_choice(text, texts)].value;
        };
        if constexpr (std::is_same_v<Target, Enum>) {
            spec.standard = word_of(words, target);
            spec.value = [&target, &words] { return nlohmann::json(word_of(words, target)); };
        } else {
            spec.value = [&target, &words] {
                return target ? nlohmann::json(word_of(words, *target)) : nlohmann::json(nullptr);
            };
        }
        return spec;
    }

    OptionSpec& add_flag(std::string name, bool& target, std::string help) {
        OptionSpec& spec = add(std::move(name), "", target ? "on" : "", std::move(help));
        spec.set = [&target](std::string_view text) {
            target = parse_choice(text, {"on", "off"}) == 0;
        };
        spec.value = [&target] { return nlohmann::json(target); };
        return spec;
    }

    template <class Number>
    OptionSpec& add_number(std::string name, std::string unit, Number& target, Range allowed,
                           std::string help) {
        OptionSpec& spec =
            add(std::move(name), std::move(unit), fmt::format("{}", target), std::move(help));
        spec.allowed = allowed.text();
        spec.set = [&target, allowed](std::string_view text) {
            target = parse_number<Number>(text, allowed);
        };
        spec.value = [&target] { return nlohmann::json(target); };
        return spec;
    }

    // A number, or `word`, which sets the value 0.
    template <class Number>
    OptionSpec& add_number_or(std::string name, const std::string& unit, const char* word,
                              Number& target, Range allowed, std::string help) {
        OptionSpec& spec = add_number(std::move(name), fmt::format("{}|{}", unit, word), target,
                                      allowed, std::move(help));
        if (target == 0) spec.standard = word;
        spec.set = [&target, word, allowed](std::string_view text) {
            target = text == word ? 0 : parse_number<Number>(text, allowed, word);
        };
        spec.value = [&target, word] { return number_or(target == 0, word, target); };
        return spec;
    }

    OptionSpec& add_text(std::string name, std::string values, std::string& target,
                         std::string help) {
        OptionSpec& spec = add(std::move(name), std::move(values), target, std::move(help));
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
