// SPDX-License-Identifier: Apache-2.0
// Catch2 in the two major versions that supported distributions contain: 2.13 (Debian 12, Ubuntu
// 22.04) and 3. Tests use only what both versions provide: TEST_CASE, SECTION, REQUIRE, CHECK,
// INFO, REQUIRE_THROWS_AS, GENERATE.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // the name of version 2
#else
#include <catch2/catch.hpp>
#endif
