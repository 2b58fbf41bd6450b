// Mathematics that gives equal bits everywhere, for what a model computes in its handlers.
//
// The C library's functions are good, but their last bits depend on its version and on whether the
// machine has fused multiply-add. A model that schedules by them has another digest on another
// machine. The functions here are made of what IEEE 754 fixes to the bit: additions,
// multiplications, divisions and square roots of doubles, in an order that is written down. They are
// compiled once, in the library, with -ffp-contract=off, so that the flags a model is built with do
// not reach them; what a model computes around them is fixed by the same option, which comes with
// the target numawarp::numawarp.
//
// Special values are those of the C standard (Annex F); every result that is no number is the same
// quiet NaN. errno and the floating-point exception flags mean nothing.
//
// Requires: rounding to nearest, and subnormal numbers that are not flushed to zero. That is how
// every handler finds its thread. After fesetround() or with -ffast-math the results are still close
// to right, but their bits are others.
//
// The errors are the largest ones that were found beside long double (64 bits), with four million
// arguments a function, in units of the last place of the result. They are no proven bounds.
#pragma once

namespace nw::math {

double sqrt(double x) noexcept;           // 0.50  exact, as IEEE 754 asks
double exp(double x) noexcept;            // 0.76
double expm1(double x) noexcept;          // 0.76  e^x - 1, also close where x is near 0
double log(double x) noexcept;            // 0.51
double log1p(double x) noexcept;          // 0.67  log(1 + x), also close where x is near 0
double pow(double x, double y) noexcept;  // 0.76
double sin(double angle) noexcept;        // 1.10  in radians; also of huge angles
double cos(double angle) noexcept;        // 1.10
double erf(double x) noexcept;            // 1.35
double erfc(double x) noexcept;           // 3.30  1 - erf(x), also close where that is tiny

}  // namespace nw::math
