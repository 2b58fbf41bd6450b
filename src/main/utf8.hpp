// Names of files and models may hold any bytes; JSON holds UTF-8 alone.
#pragma once

#include <string>
#include <string_view>

namespace nw {

// The text with each byte that belongs to no well-formed character (The Unicode Standard, table 3-7)
// written out as \xNN: different texts stay different, and what is UTF-8 stays as it is.
std::string as_utf8(std::string_view text);

}  // namespace nw
