# SPDX-License-Identifier: Apache-2.0
"""Bytes, times, counts and shares as text for people. src/util/number_text.hpp does this for
programs."""

import math

NONE = "–"


def count(number):
    """For example 12,345. A number of at least a million is shortened, as in 4.04 million."""
    if number is None:
        return NONE
    for size, unit in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if abs(number) >= size:
            return f"{number / size:.3g} {unit}"
    return plain(number)


def plain(number):
    """Up to four significant digits; no decimals for whole numbers and from 1,000 on."""
    if number is None:
        return NONE
    if number == int(number) or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.4g}"


def short(number):
    """For axes: 4M, 250k."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.4g}"


def power(number):
    """A power of ten, for axes: 0.1, 1, 10, 100, 10⁴, 10⁻⁵."""
    exponent = round(math.log10(number))
    if -2 <= exponent <= 3:
        return f"{number:.4g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def time_unit(seconds_max):
    """(name, seconds) of a unit in which times up to seconds_max are short numbers."""
    for bound, unit, unit_seconds in ((1e-3, "µs", 1e-6), (1, "ms", 1e-3), (180, "s", 1),
                                      (3 * 3600, "min", 60), (4 * 86400, "h", 3600)):
        if seconds_max < bound:
            return unit, unit_seconds
    return "days", 86400


def size(number):
    if number is None:
        return NONE
    for bound, unit in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if abs(number) >= bound:
            return f"{number / bound:.3g} {unit}"
    return f"{number:.0f} B"


def percent(share):
    if share is None:
        return NONE
    if 0.99 < share < 1:
        return f"{min(99.9, 100 * share):.1f} %"  # never 100 % for a share below 1
    digits = 0 if share >= 0.1 or share == 0 else 1
    return f"{100 * share:.{digits}f} %"


def seconds(number):
    if number is None:
        return NONE
    if number >= 3600:
        return f"{int(number // 3600)} h {int(number % 3600 // 60)} min"
    if number >= 60:
        return f"{int(number // 60)} min {number % 60:.0f} s"
    for bound, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if number >= bound:
            return f"{number / bound:.3g} {unit}"
    return f"{number:.3g} s"


def many(number, noun, plural=None):
    return f"{plain(number)} {noun if number == 1 else plural or noun + 's'}"
