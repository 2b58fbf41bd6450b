// SPDX-License-Identifier: Apache-2.0
// c[0] + c[1] x + c[2] x^2 + …, by Horner's rule, which fixes the order of the operations.
#pragma once

#include <array>
#include <cstddef>

namespace nw::portable {

template <std::size_t terms>
constexpr double polynomial(const std::array<double, terms>& c, double x) noexcept {
    double sum = c[terms - 1];
    for (std::size_t i = terms - 1; i-- > 0;) sum = sum * x + c[i];
    return sum;
}

}  // namespace nw::portable
