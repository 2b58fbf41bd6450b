// SPDX-License-Identifier: Apache-2.0
// Converts text of unknown origin to text that is allowed in files and terminals that require
// UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace nw {

// Whether the whole text is UTF-8 as the Unicode standard defines it: no surrogates, no overlong
// forms.
bool is_utf8(std::string_view text) noexcept;

// Appends the text. Each byte that belongs to no character becomes U+FFFD. A zero byte also becomes
// U+FFFD, because C functions would end the text at the zero byte.
void append_utf8(std::string& to, std::string_view text);

// Returns the text with each byte that belongs to no character written as \xNN. Valid UTF-8 is not
// changed. Texts that differ only in such bytes stay different.
std::string as_utf8(std::string_view text);

// Returns the text as one line of UTF-8. Control characters, including line breaks, become spaces.
// Each byte that belongs to no character becomes U+FFFD.
std::string one_line(std::string_view text);

}  // namespace nw
