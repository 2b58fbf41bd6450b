// SPDX-License-Identifier: Apache-2.0
// Converts texts to values, for the command line and for the configuration file. Each function
// parse_… reads one kind of value. If the text is not an allowed value, it throws InvalidValue,
// whose message describes the allowed values. The caller adds the name of the option.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/options.hpp>

#include "numa/place/memory_options.hpp"

namespace nw {

class InvalidValue : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Number: double, or std::uint32_t or std::uint64_t for whole numbers. The limits of an integer
// type also apply. `or_else`: for the message, the values that the option accepts besides numbers,
// as in "auto; or off".
template <class Number>
Number parse_number(std::string_view text, Range allowed, std::string_view or_else = "");

// Seconds between two decisions about where groups or pages should be: at most a day.
inline constexpr Range allowed_period = above(0).to(86'400);

// Reads "2@5", "auto" or "off".
PagemigdOptions parse_pagemigd(std::string_view text);

// Reads a number of bytes, "512M", "8G", "1.5g" or "65536", with powers of 1024 as units. Throws if
// the number is smaller than `least`.
std::uint64_t parse_size(std::string_view text, std::uint64_t least);

// Returns the index of `text` in `words`.
std::size_t parse_choice(std::string_view text, const std::vector<std::string>& words);

// Returns a text of the user for a message; a long text is cut.
std::string shortened(std::string_view text);

// Joins the words, as in "sequential, conservative or timewarp".
std::string enumerate(const std::vector<std::string>& words, std::string_view last_joint);

// Returns the word that `text` is probably meant to be, by edit distance (Levenshtein, 1966), or an
// empty string if no word is near.
std::string nearest_word(std::string_view text, const std::vector<std::string>& words);

}  // namespace nw
