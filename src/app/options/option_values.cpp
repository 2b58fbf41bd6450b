// SPDX-License-Identifier: Apache-2.0
#include "app/options/option_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

namespace nw {

namespace {

constexpr Range allowed_pagemigd_threads = from(1).to(64);

template <class T>
std::optional<T> read_all(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Describes a range in words. An empty text means that there is no bound.
std::string between(const Range& range, const std::string& least, const std::string& most) {
    std::string text;
    if (!least.empty()) text = (range.has_least ? "from " : "above ") + least;
    if (most.empty()) return !least.empty() && range.has_least ? text + " up" : text;
    if (least.empty()) return (range.has_most ? "up to " : "below ") + most;
    if (range.has_most) return text + (range.has_least ? " to " : ", up to ") + most;
    return text + (range.has_least ? " to below " : " and below ") + most;
}

std::string bound_text(double bound) {
    return std::isinf(bound) ? std::string() : fmt::format("{}", bound);
}

template <class Number>
std::string rule_for(const Range& allowed) {
    if constexpr (std::is_integral_v<Number>) {
        const auto or_end = [](double bound, Number end) {
            return std::isinf(bound) ? fmt::format("{}", end) : bound_text(bound);
        };
        using Ends = std::numeric_limits<Number>;
        return "must be a whole number " + between(allowed, or_end(allowed.least, Ends::min()),
                                                   or_end(allowed.most, Ends::max()));
    } else {
        const std::string bounds = allowed.text();
        if (bounds.empty()) return "must be a finite number";
        const bool is_open = std::isinf(allowed.least) || std::isinf(allowed.most);
        return "must be a number " + bounds + (is_open ? ", and finite" : "");
    }
}

}  // namespace

std::string Range::text() const { return between(*this, bound_text(least), bound_text(most)); }

template <class Number>
Number parse_number(std::string_view text, Range allowed, std::string_view or_else) {
    const auto value = read_all<Number>(text);
    if (value && allowed.contains(static_cast<double>(*value))) return *value;
    throw InvalidValue(rule_for<Number>(allowed) +
                       (or_else.empty() ? "" : fmt::format("; or {}", or_else)));
}
template double parse_number(std::string_view, Range, std::string_view);
template std::uint32_t parse_number(std::string_view, Range, std::string_view);
template std::uint64_t parse_number(std::string_view, Range, std::string_view);

PagemigdOptions parse_pagemigd(std::string_view text) {
    if (text == "auto") return {};
    if (text == "off") return {.automatic = false, .threads = 0};
    const std::size_t at = std::min(text.find('@'), text.size());
    try {
        return {
            .automatic = false,
            .threads = parse_number<std::uint32_t>(text.substr(0, at), allowed_pagemigd_threads),
            .period_seconds =
                parse_number<double>(text.substr(std::min(at + 1, text.size())), allowed_period)};
    } catch (const InvalidValue&) {
        throw InvalidValue(fmt::format(
            "must be THREADS@SECONDS, as in 2@5, with THREADS {} and SECONDS {}; or auto; or off",
            allowed_pagemigd_threads.text(), allowed_period.text()));
    }
}

std::uint64_t parse_size(std::string_view text, std::uint64_t least) {
    constexpr std::string_view suffixes = "KMGT";
    std::string_view digits = text;
    double unit = 1;
    if (!digits.empty()) {
        const auto letter =
            static_cast<char>(std::toupper(static_cast<unsigned char>(digits.back())));
        const std::size_t power = suffixes.find(letter);
        if (power != std::string_view::npos) {
            unit = std::ldexp(1.0, 10 * static_cast<int>(power + 1));
            digits.remove_suffix(1);
        }
    }
    const double bytes = read_all<double>(digits).value_or(-1) * unit;
    constexpr double most = 0x1.0p62;
    if (!(bytes >= static_cast<double>(least) && bytes <= most))
        throw InvalidValue(fmt::format(
            "must be a number of bytes, at least {}, as in 8G, 512M or 8589934592", least));
    return static_cast<std::uint64_t>(bytes);
}

std::size_t parse_choice(std::string_view text, const std::vector<std::string>& words) {
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end())
        throw InvalidValue(fmt::format("must be {}", enumerate(words, " or ")));
    return static_cast<std::size_t>(found - words.begin());
}

std::string shortened(std::string_view text) {
    constexpr std::size_t shown = 200;
    if (text.size() <= shown) return std::string(text);
    return fmt::format("{}... ({} bytes)", text.substr(0, shown), text.size());
}

std::string enumerate(const std::vector<std::string>& words, std::string_view last_joint) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? last_joint : ", ";
        text += words[i];
    }
    return text;
}

std::string nearest_word(std::string_view text, const std::vector<std::string>& words) {
    // No word is similar to a longer text, and the comparison might take seconds.
    constexpr std::size_t longest = 100;
    if (text.size() > longest) return {};
    // One row of the table of distances between all prefixes of `text` and a prefix of `word`.
    const auto distance = [text](std::string_view word) {
        std::vector<std::size_t> row(text.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 1; i <= word.size(); ++i) {
            std::size_t diagonal = row[0]++;
            for (std::size_t j = 1; j <= text.size(); ++j) {
                const std::size_t replaced = diagonal + (word[i - 1] == text[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
            }
        }
        return row.back();
    };
    // At most a third of the text (or two letters) and half of the word may be wrong. A suggestion
    // that is less similar would mislead.
    std::size_t best = std::max<std::size_t>(2, text.size() / 3) + 1;
    std::string nearest;
    for (const std::string& word : words) {
        const std::size_t now = distance(word);
        if (now < best && now * 2 <= word.size()) {
            best = now;
            nearest = word;
        }
    }
    return nearest;
}

}  // namespace nw
