// Which kinds of values the columns of the output tables have held. A table in CSV has lost that: 1 may
// have been a real number and 007 a text. Formats whose columns have types need it.
#pragma once

#include <cstdint>
#include <vector>

#include <numawarp/context.hpp>

namespace nw {

// A set of them. An empty text is a kind of its own: so a model leaves out a value of any kind.
// Integers below 0, and from 2^63 on, are kinds of their own because no one type holds both.
enum KindSeen : std::uint8_t {
    saw_integer = 1,
    saw_real = 2,
    saw_text = 4,
    saw_blank = 8,
    saw_negative = 16,
    saw_large = 32
};

// By table and column: a sum of KindSeen.
using ColumnKinds = std::vector<std::vector<std::uint8_t>>;

// The one type that holds all that was seen.
enum class ColumnType : std::uint8_t { integer, natural, real, text };

// Integers among real numbers become real; a value left out of a column of numbers makes them real
// too, where it is NaN. Numbers among texts are written as text, and so are integers of which some
// are below 0 and some beyond 2^63, since as real numbers they would be others.
constexpr ColumnType column_type(std::uint8_t seen) noexcept {
    constexpr std::uint8_t integers = saw_integer | saw_negative | saw_large;
    if ((seen & saw_text) != 0 || (seen & (integers | saw_real)) == 0) return ColumnType::text;
    if ((seen & ~integers) != 0) return ColumnType::real;
    if ((seen & saw_large) == 0) return ColumnType::integer;
    return (seen & saw_negative) == 0 ? ColumnType::natural : ColumnType::text;
}

}  // namespace nw
