// SPDX-License-Identifier: Apache-2.0
// Mathematical functions for handlers. Their results have the same bits on every machine.
//
// The functions of the C library are accurate, but their last bits depend on the version of the
// library and on whether the machine has fused multiply-add. If a model computes the times of
// events with the functions of the C library, its digest may differ between machines. The functions
// here use only operations that IEEE 754 defines to the last bit (addition, multiplication,
// division and square root of doubles), in a fixed order. They are compiled once, in the library,
// with -ffp-contract=off, so the compiler flags of a model do not affect them. The target
// numawarp::numawarp passes the same option to the model, so that the model's own arithmetic is
// reproducible, too.
//
// Special values follow the C standard (Annex F). Every result that is not a number is the same
// quiet NaN. errno and the floating-point exception flags have no meaning.
//
// Requires: rounding to nearest, and subnormal numbers that are not flushed to zero. Every handler
// starts with these settings. After fesetround() or with -ffast-math the results are still
// approximately right, but their bits differ.
//
// The number in the comment of a function is its error in units in the last place (ulp) of the
// result. It is the largest error that was found in comparison with long double (64 bits), with
// four million arguments for each function. It is not a proven bound.
#pragma once

namespace nw::math {

// The square root. Error: 0.50, correctly rounded, as IEEE 754 requires.
double sqrt(double x) noexcept;
// e to the power of x. Error: 0.76.
double exp(double x) noexcept;
// e^x - 1, accurate also for x near 0. Error: 0.76.
double expm1(double x) noexcept;
// The natural logarithm. Error: 0.51.
double log(double x) noexcept;
// log(1 + x), accurate also for x near 0. Error: 0.67.
double log1p(double x) noexcept;
// x to the power of y. Error: 0.76.
double pow(double x, double y) noexcept;
// The sine of an angle in radians, also of a very large angle. Error: 1.10.
double sin(double angle) noexcept;
// The cosine of an angle in radians, also of a very large angle. Error: 1.10.
double cos(double angle) noexcept;
// The error function. Error: 1.45.
double erf(double x) noexcept;
// 1 - erf(x), accurate also where the result is tiny. Error: 3.40.
double erfc(double x) noexcept;

}  // namespace nw::math
