// SPDX-License-Identifier: Apache-2.0
// The kinds of values that each column of the output tables has received. Formats with typed
// columns need these kinds. A CSV file does not show them: 1 may have been a real number, and 007 a
// text.
#pragma once

#include <cstdint>
#include <vector>

#include <numawarp/context.hpp>

namespace nw {

// A set of these flags describes a column. An empty text is a separate kind, because a model can
// write an empty text in place of a value of any kind. Negative integers and integers from 2^63 on
// are separate kinds, because no single type contains both.
enum KindSeen : std::uint8_t {
    saw_integer = 1,
    saw_real = 2,
    saw_text = 4,
    saw_blank = 8,
    saw_negative = 16,
    saw_large = 32
};

// For each table and column: a sum of KindSeen.
using ColumnKinds = std::vector<std::vector<std::uint8_t>>;

// The type of a column, which can represent all values that were seen.
enum class ColumnType : std::uint8_t { integer, natural, real, text };

// Integers and real numbers in one column become real. A column of numbers with omitted values also
// becomes real, and the omitted values become NaN. Numbers and texts in one column become text. If
// a column contains only integers, some negative and some 2^63 or larger, it becomes text, because
// a conversion to real would change the integers.
constexpr ColumnType column_type(std::uint8_t seen) noexcept {
    constexpr std::uint8_t integers = saw_integer | saw_negative | saw_large;
    if ((seen & saw_text) != 0 || (seen & (integers | saw_real)) == 0) return ColumnType::text;
    if ((seen & ~integers) != 0) return ColumnType::real;
    if ((seen & saw_large) == 0) return ColumnType::integer;
    return (seen & saw_negative) == 0 ? ColumnType::natural : ColumnType::text;
}

}  // namespace nw
