// Text of unknown origin made fit for files and terminals that want UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace nw {

// Whether all of it is UTF-8 (as in the Unicode standard: no surrogates, nothing overlong).
bool is_utf8(std::string_view text) noexcept;

// Appends the text; each byte that belongs to no character becomes U+FFFD, and so does a zero, which
// would end the text where C reads it.
void append_utf8(std::string& to, std::string_view text);

// The text with each byte that belongs to no character written out as \xNN: different texts stay
// different, and what is UTF-8 stays as it is.
std::string as_utf8(std::string_view text);

// The text as one line of UTF-8: control characters, line breaks among them, become spaces.
std::string one_line(std::string_view text);

}  // namespace nw
