// SPDX-License-Identifier: Apache-2.0
#include "health.hpp"

#include <cfloat>
#include <csignal>
#include <cstring>
#include <exception>

namespace hostile {
namespace {

std::uint64_t bits_of(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Checks the rounding mode, numbers below the smallest normal number, and that a division by zero
// does not trap.
std::uint64_t look_at_doubles() {
    volatile double one = 1;
    volatile double three = -3;
    volatile double smallest = DBL_MIN;
    volatile double zero = 0;
    std::uint64_t word = bits_of(one / three) * 3;
    word += bits_of(smallest / three) * 5;
    word += bits_of(one / zero) * 7;
    return word;
}

// Checks the rounding and precision of the x87, and that its eight registers are free.
std::uint64_t look_at_long_doubles() {
    volatile long double one = 1;
    volatile long double seven = 7;
    long double sum = 0;
    // Fills all eight registers.
    asm volatile(
        "fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1\n\t"
        "faddp; faddp; faddp; faddp; faddp; faddp; faddp"
        : "=t"(sum));
    const long double quotient = one / seven * 1024;
    return bits_of(static_cast<double>(sum)) * 11 +
           bits_of(static_cast<double>((quotient - static_cast<double>(quotient)) * 0x1p60L)) * 13;
}

std::uint64_t look_at_exceptions() {
    return (std::current_exception() != nullptr ? 17u : 0u) +
           static_cast<std::uint64_t>(std::uncaught_exceptions()) * 19;
}

std::uint64_t look_at_signals() {
    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return sigismember(&blocked, SIGSEGV) != 0 ? 23 : 0;
}

}  // namespace

std::uint64_t health() {
    return look_at_doubles() + look_at_long_doubles() + look_at_exceptions() + look_at_signals();
}

}  // namespace hostile
