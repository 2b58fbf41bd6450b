// SPDX-License-Identifier: Apache-2.0
// erf and erfc. The coefficients of the polynomials were computed for this file, by interpolation
// at Chebyshev's points with 60 digits, to a relative error of 2^-57.
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include <numawarp/math.hpp>

#include "api/math/exponential.hpp"
#include "api/math/polynomial.hpp"

namespace nw::math {
namespace {

// erf(x)/x - 1 as a polynomial in x^2, for |x| ≤ 1.
constexpr std::array<double, 13> near_zero = {
    0x1.06eba8214db69p-3,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b30p-4,  -0x1.b82ce31284e00p-6,
    0x1.565bcd0dbaa38p-8,  -0x1.c02db3dac435fp-11, 0x1.f9a321d5b8e1ep-14, -0x1.f4d1e3183f7aep-17,
    0x1.b9df224ca4b97p-20, -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27, -0x1.389d4f2641625p-30,
    0x1.05ffd737fb32ep-34};

// e^(x^2) erfc(x) as a polynomial in x - 1, for 0.5 ≤ x < 1.5. This function is smooth where erfc
// is steep.
constexpr std::array<double, 18> around_1 = {
    0x1.b5d8780f956b2p-2,  -0x1.17c4e3f17c050p-2,  0x1.3c27283c32cbdp-3,  -0x1.44837f8906fccp-4,
    0x1.33cad0ef5f604p-5,  -0x1.10fcf1b559836p-6,  0x1.c8cb958b893d1p-8,  -0x1.6af2654dad28ep-9,
    0x1.135263365ae98p-10, -0x1.908223a54dd6cp-12, 0x1.184fa62a30f35p-13, -0x1.7ab1b42ac1c6cp-15,
    0x1.ef1520bdad316p-17, -0x1.39cb26d313b35p-18, 0x1.80f28d1204b75p-20, -0x1.cd9df537d6bd2p-22,
    0x1.2805d34f13fa4p-23, -0x1.504357b3d162cp-25};
// e^(x^2) erfc(x) as a polynomial in x - 2.25, for 1.5 ≤ x < 3.
constexpr std::array<double, 19> around_2_25 = {
    0x1.d94446d627932p-3,  -0x1.6a70d2bb37411p-4,  0x1.0615670e25a7bp-5,  -0x1.6883f9919a0c6p-7,
    0x1.da595561f7c95p-9,  -0x1.2bd251bb39fc9p-10, 0x1.6d7743d3bc27ep-12, -0x1.aed7ebbfe0f1fp-14,
    0x1.ec773cc09580ep-16, -0x1.117a68baebe32p-17, 0x1.27af449b8807cp-19, -0x1.37b8fd25062dfp-21,
    0x1.40e6fa019803cp-23, -0x1.431b217113ea0p-25, 0x1.3e50ecaa2c69ep-27, -0x1.305200e6da12dp-29,
    0x1.2050b175e0025p-31, -0x1.362b843e7d01fp-33, 0x1.19e1eafb43781p-35};
// e^(x^2) erfc(x) as a polynomial in x - 4.5, for 3 ≤ x < 6.
constexpr std::array<double, 21> around_4_5 = {
    0x1.f5b2a049cf4c6p-4,  -0x1.aa3eb6a946f7dp-6,  0x1.62c12cb5f7576p-8,  -0x1.218ed930b256ep-10,
    0x1.d00785f2ed72dp-13, -0x1.6d54b133b4fa4p-15, 0x1.1ad6a32dd6c36p-17, -0x1.aef8ea5d09fcap-20,
    0x1.4354fb2a85513p-22, -0x1.de094e44ccc59p-25, 0x1.5c64afb63f2d2p-27, -0x1.f4e9f409e13c6p-30,
    0x1.635ed12a3a2f6p-32, -0x1.f1b6f323adb00p-35, 0x1.5857977fbe5cbp-37, -0x1.d8e9e08b420cap-40,
    0x1.3f75519488666p-42, -0x1.92c9beeb3c1d2p-45, 0x1.0ad60f61d6337p-47, -0x1.f54ce8fbc4149p-50,
    0x1.4262e9b47d05cp-52};
// x e^(x^2) erfc(x) as a polynomial in 1/x^2, for 6 ≤ x < 28.
constexpr std::array<double, 11> far_out = {
    0x1.20dd750429b6cp-1,  -0x1.20dd750429016p-2,  0x1.b14c2f8422294p-2, -0x1.0ecf9ce40e784p+0,
    0x1.d9eaf5e916a2ep+1,  -0x1.0a8da389db483p+4,  0x1.6de93bc035bbcp+6, -0x1.24a34e7c92328p+9,
    0x1.f5202cf57e7d9p+11, -0x1.7ba699d904280p+14, 0x1.5512d2b345b47p+16};

double erf_near_zero(double x) noexcept { return x + x * portable::polynomial(near_zero, x * x); }

// Requires: 0.5 ≤ x.
double erfc_above_half(double x) noexcept {
    if (x > 28) return 0;
    double smooth;
    if (x < 1.5) {
        smooth = portable::polynomial(around_1, x - 1);
    } else if (x < 3) {
        smooth = portable::polynomial(around_2_25, x - 2.25);
    } else if (x < 6) {
        smooth = portable::polynomial(around_4_5, x - 4.5);
    } else {
        smooth = portable::polynomial(far_out, 1 / (x * x)) / x;
    }
    // A relative error of x^2 becomes a relative error of e^(-x^2) that is x^2 times as large.
    // Therefore the square is computed exactly.
    const portable::DoubleDouble square = portable::exact_product(x, x);
    const auto parts = portable::exponential_parts(-square.high, -square.low);
    const double power = parts.power.high + (parts.power.low + parts.power.high * parts.rest);
    // `smooth` is between 0.02 and 0.62. The factor 64 brings the product into the range that
    // scaled() requires.
    return portable::scaled(power * smooth * 64, parts.exponent - 6);
}

}  // namespace

double erf(double x) noexcept {
    if (std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
    if (std::fabs(x) < 1) return erf_near_zero(x);
    const double size = std::fabs(x) < 6 ? 1 - erfc_above_half(std::fabs(x)) : 1;
    return x < 0 ? -size : size;
}

double erfc(double x) noexcept {
    if (std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
    if (x >= 0.5) return erfc_above_half(x);
    if (x > -1) return 1 - erf_near_zero(x);
    return x > -6 ? 2 - erfc_above_half(-x) : 2;
}

}  // namespace nw::math
