// SPDX-License-Identifier: Apache-2.0
#include "util/utf8.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace nw {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// Number of bytes of the first character; 0 if the text does not begin with a character. Requires:
// the text is not empty.
std::size_t character_bytes(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return 0;
    for (std::size_t i = 1; i < bytes; ++i)
        if (!is_continuation(byte(i))) return 0;
    const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool surrogate = first == 0xed && byte(1) >= 0xa0;
    const bool beyond = first == 0xf4 && byte(1) >= 0x90;
    return overlong || surrogate || beyond ? 0 : bytes;
}

// Calls take(character, first byte) for each character. For a byte that belongs to no character,
// `character` is empty.
template <class Take>
void for_each_character(std::string_view text, Take take) {
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        take(text.substr(0, bytes), static_cast<unsigned char>(text[0]));
        text.remove_prefix(bytes > 0 ? bytes : 1);
    }
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    bool all = true;
    for_each_character(text, [&](std::string_view c, unsigned char) { all = all && !c.empty(); });
    return all;
}

void append_utf8(std::string& to, std::string_view text) {
    for_each_character(text, [&](std::string_view character, unsigned char) {
        const bool kept = !character.empty() && character[0] != '\0';
        to += kept ? character : replacement;
    });
}

std::string as_utf8(std::string_view text) {
    std::string result;
    for_each_character(text, [&](std::string_view character, unsigned char first) {
        if (character.empty())
            result += fmt::format("\\x{:02x}", first);
        else
            result += character;
    });
    return result;
}

std::string one_line(std::string_view text) {
    std::string line;
    for_each_character(text, [&](std::string_view character, unsigned char) {
        const bool control = !character.empty() && ((character[0] >= '\0' && character[0] < ' ') ||
                                                    character[0] == '\x7f');
        line += character.empty() ? replacement : control ? " " : character;
    });
    return line;
}

}  // namespace nw
