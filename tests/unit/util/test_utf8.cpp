// SPDX-License-Identifier: Apache-2.0
#include "util/utf8.hpp"

#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace {

using namespace std::string_view_literals;

std::string cleaned(std::string_view text) {
    std::string to = "<";
    nw::append_utf8(to, text);
    return to + ">";
}

constexpr std::string_view good[] = {"",
                                     "plain",
                                     "Straße",
                                     "\u20ac",
                                     "\u07ff",
                                     "\U0001f697",
                                     "\xf4\x8f\xbf\xbf",
                                     "\xed\x9f\xbf",
                                     "\xee\x80\x80",
                                     "\xc2\x80"};

TEST_CASE("utf8: valid UTF-8 is unchanged") {
    for (const std::string_view text : good) {
        CHECK(nw::is_utf8(text));
        CHECK(cleaned(text) == "<" + std::string(text) + ">");
        CHECK(nw::one_line(text) == text);
    }
}

TEST_CASE("utf8: each invalid byte becomes U+FFFD and all other bytes are kept") {
    CHECK(cleaned("caf\xe9!") == "<caf\ufffd!>");
    CHECK(cleaned("\xff\xfe") == "<\ufffd\ufffd>");
    CHECK(cleaned("a\x80z") == "<a\ufffdz>");
    CHECK(cleaned("cut\xe2\x82") == "<cut\ufffd\ufffd>");
    CHECK(cleaned("\xc3(") == "<\ufffd(>");
    for (const std::string_view text :
         {"\xc0\x80"sv, "\xc1\xbf"sv, "\xe0\x9f\xbf"sv, "\xf0\x8f\xbf\xbf"sv, "\xed\xa0\x80"sv,
          "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv}) {
        CHECK(!nw::is_utf8(text));
        std::string expected = "<";
        for (std::size_t i = 0; i < text.size(); ++i) expected += "\ufffd";
        CHECK(cleaned(text) == expected + ">");
    }
}

TEST_CASE("utf8: a zero byte becomes U+FFFD because it would end the text") {
    CHECK(nw::is_utf8("a\0b"sv));
    CHECK(cleaned("a\0b"sv) == "<a\ufffdb>");
}

TEST_CASE("utf8: one_line() replaces line breaks and control characters") {
    CHECK(nw::one_line("first\nsecond\r\n\tthird") == "first second   third");
    CHECK(nw::one_line("\x1b[31mred\x7f \xe9\0"sv) == " [31mred  \ufffd ");
}

}  // namespace
