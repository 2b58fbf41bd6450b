// Text to values, for the command line and the configuration file alike: each function reads one
// kind of value or throws IllegalValue, whose text says what would have been legal. Who calls adds
// the option's name.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/time.hpp>

#include "numa/region/memory_options.hpp"

namespace nw {

class IllegalValue : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

std::uint64_t parse_whole(std::string_view text, std::uint64_t least, std::uint64_t most);

// Any finite number.
double parse_number(std::string_view text);

// A finite number in [least, most], or in (least, most].
enum class Bound : std::uint8_t { included, excluded };
double parse_number_in(std::string_view text, double least, Bound at_least, double most);

// A period: above 0, and at most a day. `word` is what else the option takes, for the message.
double parse_seconds_or(std::string_view text, std::string_view word);

// "2@5", "auto", "off"
PagemigdOptions parse_pagemigd(std::string_view text);

// "512M", "8G", "1.5g", "65536": bytes, in powers of 1024.
std::uint64_t parse_size(std::string_view text, std::uint64_t least);

// The index of `text` in `words`.
std::size_t parse_choice(std::string_view text, const std::vector<std::string>& words);

// For a message: a text of the user's, cut where it is long.
std::string shortened(std::string_view text);

// "sequential, conservative or timewarp"
std::string enumerate(const std::vector<std::string>& words, std::string_view last_joint);

// The word of `words` that `text` is probably meant to be, by edit distance (Levenshtein, 1966), or
// nothing if none is near.
std::string nearest_word(std::string_view text, const std::vector<std::string>& words);

}  // namespace nw
