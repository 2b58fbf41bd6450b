// SPDX-License-Identifier: Apache-2.0
// Numbers as text for people: "12.3 M", "1.50 GiB", "2 min 05 s". All C++ code formats bytes,
// times, counts and shares with these functions. The scripts in jobs/ use jobs/lib/number_text.py.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nw {

std::string count_text(double count);                // "950", "12.3 k", "4.56 M"
std::string bytes_text(std::uint64_t bytes);         // "512 B", "1.50 GiB"
std::string exact_bytes_text(std::uint64_t bytes);   // "512 B", "1536 MiB": a whole number
std::string mebibytes_text(double bytes);            // "1536 MiB": the format of --memory-cap
std::string duration_text(double seconds);           // "1.23 ms", "2 min 05 s", "3 h 04 min"
std::string share_text(double share);                // "97.3 %"; "-" if `share` is not finite
std::string virtual_time_text(double virtual_time);  // at most 6 digits; "no end" for infinity
std::string with_thousands(std::uint64_t number);    // "12,345,678"

// "1 group", "1,234 groups"
std::string plural(std::uint64_t number, std::string_view one);

}  // namespace nw
