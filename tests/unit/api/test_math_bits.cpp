// SPDX-License-Identifier: Apache-2.0
// Golden bits of every function of <numawarp/math.hpp> and of random numbers. The bits do not
// depend on the compiler, the optimization level or the processor: tests/checks/compilers builds
// and runs this test with several compilers and flags. An intended change of a function changes the
// digests of models, and requires new values in this file.
#include <numawarp/math.hpp>
#include <numawarp/random.hpp>

#include <bit>
#include <cstdint>

#include "tests/support/catch.hpp"

namespace {

namespace math = nw::math;

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

struct Golden {
    const char* name;
    double (*function)(double);
    double x;
    std::uint64_t bits;
};

constexpr Golden golden[] = {
    {"sqrt", math::sqrt, 2, 0x3ff6a09e667f3bcd},
    {"sqrt", math::sqrt, 1e-310, 0x1fc1297872d9cbae},
    {"sqrt", math::sqrt, 0x1.fffffffffffffp+0, 0x3ff6a09e667f3bcc},
    {"sqrt", math::sqrt, 1e300, 0x5f138d352e5096af},
    {"exp", math::exp, 1, 0x4005bf0a8b145769},
    {"exp", math::exp, -1, 0x3fd78b56362cef38},
    {"exp", math::exp, 0.5, 0x3ffa61298e1e069c},
    {"exp", math::exp, -0.0001, 0x3fefff2e4b97d31d},
    {"exp", math::exp, 100.25, 0x48f8c39b9134bac4},
    {"exp", math::exp, -700.5, 0x00c4ff475c68ca02},
    {"exp", math::exp, -740, 0x0000000000000055},
    {"exp", math::exp, 709.5, 0x7fe81e9b4b52d0c9},
    {"expm1", math::expm1, 1, 0x3ffb7e151628aed3},
    {"expm1", math::expm1, -1, 0xbfe43a54e4e98864},
    {"expm1", math::expm1, 0.25, 0x3fd22d78f0fa061a},
    {"expm1", math::expm1, -0.34, 0xbfd2725ae35e2895},
    {"expm1", math::expm1, 1e-10, 0x3ddb7cdfd9dda4e3},
    {"expm1", math::expm1, -5.5, 0xbfefde856b4a6b12},
    {"expm1", math::expm1, 45.5, 0x4408fa89aacdc2f3},
    {"expm1", math::expm1, 0.36, 0x3fdbbbab4bfb9d7e},
    {"log", math::log, 2, 0x3fe62e42fefa39ef},
    {"log", math::log, 0.1, 0xc0026bb1bbb55515},
    {"log", math::log, 0.9999, 0xbf1a3738d2cf1cc2},
    {"log", math::log, 1.0001, 0x3f1a368d0657fcd4},
    {"log", math::log, 1e-310, 0xc0864e69394d9508},
    {"log", math::log, 1e300, 0x4085963447f87fb5},
    {"log", math::log, 3, 0x3ff193ea7aad030b},
    {"log", math::log, 1.37, 0x3fd425dbf202b876},
    {"log1p", math::log1p, 1, 0x3fe62e42fefa39ef},
    {"log1p", math::log1p, -0.5, 0xbfe62e42fefa39ef},
    {"log1p", math::log1p, 1e-10, 0x3ddb7cdfd9d1d693},
    {"log1p", math::log1p, -0.000003, 0xbec92a75ea62cd81},
    {"log1p", math::log1p, -0.999, 0xc01ba18a998fff9f},
    {"log1p", math::log1p, 12345.678, 0x4022d79ff745b2fd},
    {"log1p", math::log1p, 1e20, 0x4047069e2aa2aa5b},
    {"log1p", math::log1p, 0.25, 0x3fcc8ff7c79a9a22},
    {"sin", math::sin, 0.5, 0x3fdeaee8744b05f0},
    {"sin", math::sin, 1, 0x3feaed548f090cee},
    {"sin", math::sin, -2.5, 0xbfe326af0dcfcab0},
    {"sin", math::sin, 3.14159265358979, 0x3ced1a62633145c0},
    {"sin", math::sin, 100, 0xbfe03425b78c4db8},
    {"sin", math::sin, 1e10, 0xbfdf334c7896a4e3},
    {"sin", math::sin, 1e22, 0xbfeb453ab76bf397},
    {"sin", math::sin, 0x1.6ac5b262ca1ffp+849, 0x3ff0000000000000},
    {"cos", math::cos, 0.5, 0x3fec1528065b7d50},
    {"cos", math::cos, 1, 0x3fe14a280fb5068c},
    {"cos", math::cos, -2.5, 0xbfe9a2f7ef858b7d},
    {"cos", math::cos, 1.5707963267949, 0xbcef72cece675d20},
    {"cos", math::cos, 100, 0x3feb981dbf665fdf},
    {"cos", math::cos, 1e10, 0x3febf098901c931a},
    {"cos", math::cos, 1e22, 0x3fe0be2cef01c8f4},
    {"cos", math::cos, 0x1.6ac5b262ca1ffp+849, 0xbc214ae72e6ba22f},
    {"erf", math::erf, 0.1, 0x3fbcca5ea24fb334},
    {"erf", math::erf, -0.5, 0xbfe0a7ef5c18edd2},
    {"erf", math::erf, 0.99, 0x3fead50ee005845b},
    {"erf", math::erf, 1.25, 0x3fed8865d98abe00},
    {"erf", math::erf, -2, 0xbfefd9ae142795e3},
    {"erf", math::erf, 3.5, 0x3feffffe710d565e},
    {"erf", math::erf, 5.5, 0x3fefffffffffffbe},
    {"erf", math::erf, 1e-20, 0x3bcaa4a230244ae0},
    {"erfc", math::erfc, 0.1, 0x3fec66b42bb6099a},
    {"erfc", math::erfc, -0.5, 0x3ff853f7ae0c76e9},
    {"erfc", math::erfc, 0.75, 0x3fd27c6d14c5e342},
    {"erfc", math::erfc, 1.25, 0x3fb3bcd133aa0ffc},
    {"erfc", math::erfc, -2, 0x3fffecd70a13caf2},
    {"erfc", math::erfc, 3.5, 0x3ea8ef2a9a18d856},
    {"erfc", math::erfc, 9, 0x386198d422be3f8c},
    {"erfc", math::erfc, 27, 0x0000000000019e0f},
};

struct GoldenPower {
    double x, y;
    std::uint64_t bits;
};

constexpr GoldenPower golden_powers[] = {
    {2, 0.5, 0x3ff6a09e667f3bcd},          {10, -3, 0x3f50624dd2f1a9fc},
    {1.0001, 12345.6, 0x400b7e445de4bfe7}, {0.3, 700, 0x0000000000000000},
    {1e-310, 0.9, 0x060226ed86db32d4},     {-3, 5, 0xc06e600000000000},
    {123.456, -78.9, 0x1dac230621ddeb9f},  {0.9999, 1e6, 0x36ea6a392e3503ec},
};

TEST_CASE("math: golden bits of every function", "[golden]") {
    for (const Golden& entry : golden) {
        INFO(entry.name << "(" << entry.x << ")");
        CHECK(bits(entry.function(entry.x)) == entry.bits);
    }
    for (const GoldenPower& entry : golden_powers) {
        INFO("pow(" << entry.x << ", " << entry.y << ")");
        CHECK(bits(math::pow(entry.x, entry.y)) == entry.bits);
    }
}

// Combines the bits of 20,000 results in one word.
template <class Draw>
std::uint64_t folded(Draw draw) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 20'000; ++i) sum = sum * 1099511628211u + draw();
    return sum;
}

TEST_CASE("math: golden bits of random arguments from all doubles and from a narrow range",
          "[golden]") {
    nw::Random random(1, 2, 0);
    const auto wide = [&] { return std::bit_cast<double>(random.bits()); };
    const auto narrow = [&] { return random.uniform() * 64 - 32; };
    const auto both = [&](auto function) {
        return folded([&] {
            const std::uint64_t of_wide = bits(function(wide()));
            return of_wide ^ bits(function(narrow()));
        });
    };
    CHECK(both(math::sqrt) == 0xfea25cc8b8a2c4fa);
    CHECK(both(math::exp) == 0xfede09a3a4f19bd2);
    CHECK(both(math::expm1) == 0xf7af5686d25e08d1);
    CHECK(both(math::log) == 0x844f90d395c467ad);
    CHECK(both(math::log1p) == 0x7a2ce6debf06b32d);
    CHECK(both(math::sin) == 0xb64613c8b06189f9);
    CHECK(both(math::cos) == 0x288cb5febf757d3d);
    CHECK(both(math::erf) == 0xa4dc12291af55b61);
    CHECK(both(math::erfc) == 0x35bf2688b99081ca);
    CHECK(folded([&] {
              const double x = wide();
              return bits(math::pow(x, narrow()));
          }) == 0x8f3b1fc6b212c4f5);
}

TEST_CASE("Random: golden bits of every distribution", "[golden]") {
    nw::Random random(42, 7, 0);
    CHECK(random.bits() == 0xe55410cc67ee6f2c);
    CHECK(random.below(1'000'000) == 0x517e3);
    CHECK(bits(random.uniform()) == 0x3fd803d865b9777a);
    CHECK(bits(random.exponential(2.5)) == 0x40117bde448edb44);
    CHECK(bits(random.erlang(3, 1.5)) == 0x3fdede598d458030);
    CHECK(bits(random.normal(10, 3)) == 0x402477e39c1cf26c);
    CHECK(folded([&] { return bits(random.exponential(1)); }) == 0x11765364b5e193bc);
    CHECK(folded([&] { return bits(random.normal(0, 1)); }) == 0xca1ad2097e1696b1);
}

}  // namespace
