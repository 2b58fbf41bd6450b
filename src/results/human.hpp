// Numbers as people read them: "12.3 M", "1.5 GiB", "2 min 05 s".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nw {

std::string human_count(double count);             // "950", "12.3 k", "4.56 M"
std::string human_bytes(std::uint64_t bytes);      // "512 B", "1.5 GiB"
std::string human_duration(double seconds);        // "1.23 ms", "2 min 05 s", "3 h 04 min"
std::string human_share(double share);             // "97.3 %"; "-" if there is nothing to share
std::string human_time(double virtual_time);       // at most 6 digits; "no end" for infinity
std::string with_thousands(std::uint64_t number);  // "12,345,678"

// "1 group", "1,234 groups"
std::string plural(std::uint64_t number, std::string_view one);

}  // namespace nw
