// SPDX-License-Identifier: Apache-2.0
#include "util/number_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace nw {

namespace {

// Three significant digits: "1.23", "12.3", "123".
std::string three_digits(double value) {
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string count_text(double count) {
    constexpr std::array units = {"", " k", " M", " G", " T"};
    std::size_t unit = 0;
    while (count >= 999.5 && unit + 1 < units.size()) {
        count /= 1000;
        ++unit;
    }
    if (unit == 0) return fmt::format("{:.0f}", count);
    return three_digits(count) + units[unit];
}

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array units = {" KiB", " MiB", " GiB", " TiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return three_digits(value) + units[unit];
}

std::string exact_bytes_text(std::uint64_t bytes) {
    constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{} {}", bytes, units[unit]);
}

std::string mebibytes_text(double bytes) { return fmt::format("{:.0f} MiB", bytes / (1 << 20)); }

std::string duration_text(double seconds) {
    if (!(seconds >= 0)) return "?";
    if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " µs";
    if (seconds < 999.5e-3) return three_digits(seconds * 1e3) + " ms";
    if (seconds < 59.5) return three_digits(seconds) + " s";
    const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    if (whole < 86'400) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
    return fmt::format("{} {:02} h", plural(whole / 86'400, "day"), whole / 3600 % 24);
}

std::string share_text(double share) {
    return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-";
}

std::string virtual_time_text(double virtual_time) {
    return std::isinf(virtual_time) ? "no end" : fmt::format("{:.6g}", virtual_time);
}

std::string with_thousands(std::uint64_t number) {
    std::string digits = fmt::format("{}", number);
    for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, ",");
    return digits;
}

std::string plural(std::uint64_t number, std::string_view one) {
    return fmt::format("{} {}{}", with_thousands(number), one, number == 1 ? "" : "s");
}

}  // namespace nw
