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
// The numbers are errors, the largest ones that were found beside long double (64 bits), with four million
// arguments a function, in units of the last place of the result. They are no proven bounds.
#pragma once

namespace nw::math {

// The square root: 0.50, exact, as IEEE 754 asks.
double sqrt(double x) noexcept;
// e to the power of x: 0.76.
double exp(double x) noexcept;
// e^x - 1, also close where x is near 0: 0.76.
double expm1(double x) noexcept;
// The natural logarithm: 0.51.
double log(double x) noexcept;
// log(1 + x), also close where x is near 0: 0.67.
double log1p(double x) noexcept;
// x to the power of y: 0.76.
double pow(double x, double y) noexcept;
// The sine of an angle in radians, also of a huge one: 1.10.
double sin(double angle) noexcept;
// The cosine of an angle in radians, also of a huge one: 1.10.
double cos(double angle) noexcept;
// The error function: 1.45.
double erf(double x) noexcept;
// 1 - erf(x), also close where that is tiny: 3.40.
double erfc(double x) noexcept;

}  // namespace nw::math
