// Text to values, for the command line and the configuration file alike: each function reads one
// kind of value or throws IllegalValue, whose text says what would have been legal. Who calls adds
// the option's name.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <numawarp/options.hpp>

#include "numa/region/memory_options.hpp"

namespace nw {

class IllegalValue : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Number: double, or std::uint32_t or std::uint64_t for whole numbers, which are legal up to the type's
// own end, too. `or_else` is what else the option takes, for the message.
template <class Number>
Number parse_number(std::string_view text, Range legal, std::string_view or_else = "");

// Between two looks at where groups or pages should be: at most a day.
inline constexpr Range legal_period = above(0).to(86'400);

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
