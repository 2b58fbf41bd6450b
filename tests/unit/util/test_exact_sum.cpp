// SPDX-License-Identifier: Apache-2.0
#include "util/exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"

namespace nw {
namespace {

double sum_of(const std::vector<double>& values) {
    ExactSum sum;
    for (const double value : values) sum.add(value);
    return sum.value();
}

TEST_CASE("ExactSum: large terms that cancel leave the small terms unchanged") {
    CHECK(sum_of({}) == 0);
    CHECK(sum_of({1e300, 1, -1e300}) == 1);
    CHECK(sum_of({1, 0x1p-60, -1}) == 0x1p-60);
    CHECK(sum_of({-0x1p-1074, -0x1p-1074}) == -0x1p-1073);
    CHECK(sum_of({0x1p-1022, -0x1p-1074}) == 0x1p-1022 - 0x1p-1074);
    constexpr double most = std::numeric_limits<double>::max();
    CHECK(sum_of({most, most, -most}) == most);
}

TEST_CASE("ExactSum: the value is rounded to the nearest number, and a tie to the even number") {
    CHECK(sum_of({1, 0x1p-53}) == 1);
    CHECK(sum_of({1, 0x1p-53, 0x1p-200}) == 1 + 0x1p-52);
    CHECK(sum_of({1 + 0x1p-52, 0x1p-53}) == 1 + 0x1p-51);
    CHECK(sum_of({-1, -0x1p-53, -0x1p-200}) == -1 - 0x1p-52);
}

TEST_CASE("ExactSum: a product is added without rounding") {
    ExactSum sum;
    const double value = 1 + 0x1p-30;
    sum.add_product(value, value);
    sum.add(-1);
    sum.add(-0x1p-29);
    CHECK(sum.value() == 0x1p-60);
}

TEST_CASE("ExactSum: the order and the grouping of terms do not change the sum") {
    std::mt19937_64 random(15);
    std::vector<double> values;
    for (int i = 0; i < 3000; ++i) {
        const double share = static_cast<double>(random()) * 0x1p-64 - 0.5;
        values.push_back(std::ldexp(share, static_cast<int>(random() % 400) - 200));
    }
    const double whole = sum_of(values);
    for (int turn = 0; turn < 10; ++turn) {
        std::shuffle(values.begin(), values.end(), random);
        ExactSum parts[3];
        for (std::size_t i = 0; i < values.size(); ++i) parts[i % 3].add(values[i]);
        parts[2] += parts[0];
        parts[2] += parts[1];
        CHECK(parts[2].value() == whole);
    }
}

}  // namespace
}  // namespace nw
