#include "main/utf8.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace nw {

namespace {

unsigned char byte_at(std::string_view text, std::size_t i) noexcept {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// Bytes of the well-formed character that begins there; 0 if none does.
std::size_t character_bytes(std::string_view text) noexcept {
    const unsigned char first = byte_at(text, 0), second = byte_at(text, 1);
    const auto follows = [&](std::size_t i) { return (byte_at(text, i) & 0xc0) == 0x80; };
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4 || !follows(1)) return 0;
    if (first < 0xe0) return 2;
    if (!follows(2)) return 0;
    if (first < 0xf0) {
        const bool overlong = first == 0xe0 && second < 0xa0;
        const bool surrogate = first == 0xed && second > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    const bool overlong = first == 0xf0 && second < 0x90;
    const bool too_large = first == 0xf4 && second > 0x8f;
    return overlong || too_large || !follows(3) ? 0 : 4;
}

}  // namespace

std::string as_utf8(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        if (bytes > 0)
            result += text.substr(0, bytes);
        else
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
        text.remove_prefix(bytes > 0 ? bytes : 1);
    }
    return result;
}

}  // namespace nw
