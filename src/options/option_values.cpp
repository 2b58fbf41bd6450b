#include "options/option_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace nw {

namespace {

constexpr double seconds_most = 86'400;
constexpr std::uint32_t pagemigd_threads_most = 64;

template <class T>
std::optional<T> read_all(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> read_finite(std::string_view text) {
    const std::optional<double> value = read_all<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

std::uint64_t parse_whole(std::string_view text, std::uint64_t least, std::uint64_t most) {
    const auto value = read_all<std::uint64_t>(text);
    if (!value || *value < least || *value > most)
        throw IllegalValue(fmt::format("must be a whole number from {} to {}", least, most));
    return *value;
}

double parse_number(std::string_view text) {
    const auto value = read_finite(text);
    if (!value) throw IllegalValue("must be a finite number");
    return *value;
}

double parse_number_in(std::string_view text, double least, Bound at_least, double most) {
    const auto value = read_finite(text);
    const bool legal =
        value && *value <= most && (at_least == Bound::included ? *value >= least : *value > least);
    if (legal) return *value;
    std::string rule = at_least == Bound::included
                           ? fmt::format("must be a number from {}", least)
                           : fmt::format("must be a number above {}", least);
    if (std::isinf(most))
        rule += at_least == Bound::included ? " up, and finite" : ", and finite";
    else
        rule += fmt::format("{} {}", at_least == Bound::included ? " to" : ", up to", most);
    throw IllegalValue(rule);
}

double parse_seconds_or(std::string_view text, std::string_view word) {
    try {
        return parse_number_in(text, 0, Bound::excluded, seconds_most);
    } catch (const IllegalValue& illegal) {
        throw IllegalValue(fmt::format("{}; or {}", illegal.what(), word));
    }
}

PagemigdOptions parse_pagemigd(std::string_view text) {
    if (text == "auto") return {};
    if (text == "off") return {.automatic = false, .threads = 0};
    const std::size_t at = std::min(text.find('@'), text.size());
    const auto threads = read_all<std::uint32_t>(text.substr(0, at));
    const auto seconds = read_finite(text.substr(std::min(at + 1, text.size())));
    const bool legal = threads && *threads >= 1 && *threads <= pagemigd_threads_most && seconds &&
                       *seconds > 0 && *seconds <= seconds_most;
    if (!legal)
        throw IllegalValue(
            fmt::format("must be THREADS@SECONDS, as in 2@5, with 1 to {} threads and a period "
                        "above 0, up to {} s; or auto, or off",
                        pagemigd_threads_most, seconds_most));
    return {.automatic = false, .threads = *threads, .period_seconds = *seconds};
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
    const auto number = read_finite(digits);
    const double bytes = number ? *number * unit : -1;
    constexpr double most = 0x1.0p62;
    if (!(bytes >= static_cast<double>(least) && bytes <= most))
        throw IllegalValue(fmt::format(
            "must be a number of bytes, at least {}, as in 8G, 512M or 8589934592", least));
    return static_cast<std::uint64_t>(bytes);
}

std::size_t parse_choice(std::string_view text, const std::vector<std::string>& words) {
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end())
        throw IllegalValue(fmt::format("must be {}", enumerate(words, " or ")));
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
    // Longer than any word by more than half: nothing is near, and it might take seconds to find out.
    constexpr std::size_t longest = 100;
    if (text.size() > longest) return {};
    // One row of the table of distances between every prefix of `text` and one of `word`.
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
    // Half of a word may be wrong, but not more: a suggestion from nowhere misleads.
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
